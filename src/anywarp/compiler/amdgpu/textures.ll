; Made by native/hip/device/make_textures.py from the texture unit of native/devices and textures.cpp beside it.
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

%"struct.aw::(anonymous namespace)::Axis" = type <{ i64, i64, i32, [4 x i8] }>
%"struct.aw::(anonymous namespace)::Texel" = type { [4 x double] }
%"struct.aw::(anonymous namespace)::Target" = type <{ i32, [4 x i8], [3 x double], [3 x i32], [4 x i8], i64, i64, i32, i8, [3 x i8] }>
%"struct.aw::TextureLevel" = type { ptr, i64, i64, i32, i32, i32 }
%"struct.aw::TextureForm" = type { i32, i32, i32, i32, i8, i8, i8, i32, i32, i32 }
%"struct.aw::TextureView" = type { i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, [3 x i8], i32, i32, float, float, float, [4 x i32], [18 x %"struct.aw::TextureLevel"] }

@__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes = private unnamed_addr addrspace(4) constant [8 x i32] [i32 1, i32 1, i32 2, i32 2, i32 4, i32 4, i32 2, i32 4], align 4
@_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE = internal unnamed_addr addrspace(4) constant [256 x double] [double 0.000000e+00, double 0x3F33E45677C176F7, double 0x3F43E45677C176F7, double 0x3F4DD681B3A23272, double 0x3F53E45677C176F7, double 0x3F58DD6C15B1D4B4, double 0x3F5DD681B3A23272, double 0x3F6167CBA8C94818, double 0x3F63E45677C176F7, double 0x3F6660E146B9A5D5, double 0x3F68DD6C15B1D4B4, double 0x3F6B6A31B5259C99, double 0x3F6E1E31D70C99DD, double 0x3F707C38BF8583A9, double 0x3F71FCC2BEED6421, double 0x3F7390FFAF95E279, double 0x3F753936CC7BC928, double 0x3F76F5ADDB50C915, double 0x3F78C6A94031B561, double 0x3F7AAC6C0FB97351, double 0x3F7CA7381F9F602B, double 0x3F7EB74E160978D0, double 0x3F806E76BBDA92B8, double 0x3F818C2A5A8A8044, double 0x3F82B4E09B3F0AE3, double 0x3F83E8B7B3BDE965, double 0x3F8527CD60AF8B85, double 0x3F86723EEA8D3709, double 0x3F87C8292A3DB6B3, double 0x3F8929A88D67B521, double 0x3F8A96D91A8016BD, double 0x3F8C0FD67499FAB6, double 0x3F8D94BBDEFD740E, double 0x3F8F25A44089883F, double 0x3F9061551372C694, double 0x3F9135F3E4C2CCE2, double 0x3F9210BB8642B172, double 0x3F92F1B8C1AE46BD, double 0x3F93D8F839B79C0B, double 0x3F94C6866B3E9FA4, double 0x3F95BA6FAE794313, double 0x3F96B4C0380D2DEE, double 0x3F97B5841A1BF3AC, double 0x3F98BCC74542ADDB, double 0x3F99CA95898DC8B5, double 0x3F9ADEFA9761C020, double 0x3F9BFA0200597BD9, double 0x3F9D1BB7381AEC1F, double 0x3F9E442595227BCA, double 0x3F9F73585185E1B5, double 0x3FA054AD45D76878, double 0x3FA0F31BA386FF26, double 0x3FA194FCB663747B, double 0x3FA23A55E62A662A, double 0x3FA2E32C8E148D11, double 0x3FA38F85FD21EACF, double 0x3FA43F67766310FF, double 0x3FA4F2D6313FA8D0, double 0x3FA5A9D759BA5ED0, double 0x3FA6647010B254EE, double 0x3FA722A56C2239EE, double 0x3FA7E47C775D2427, double 0x3FA8A9FA33494B07, double 0x3FA973239698B9CC, double 0x3FAA3FFD8E001389, double 0x3FAB108CFC6B7FBC, double 0x3FABE4D6BB31D522, double 0x3FACBCDF9A4616F2, double 0x3FAD98AC60675833, double 0x3FAE7841CB4F16DF, double 0x3FAF5BA48FDE2048, double 0x3FB0216CAD240765, double 0x3FB096F2671EB815, double 0x3FB10E65C38A5192, double 0x3FB187C90BF8BCE2, double 0x3FB2031E85F5D6DA, double 0x3FB28068731A1952, double 0x3FB2FFA9111CB94B, double 0x3FB380E299E53F92, double 0x3FB40417439CA10F, double 0x3FB4894940BDDBFB, double 0x3FB5107AC0261E59, double 0x3FB599ADED247AAC, double 0x3FB624E4EF892ED4, double 0x3FB6B221EBB4817E, double 0x3FB7416702A539D1, double 0x3FB7D2B65206B527, double 0x3FB86611F43E9E6A, double 0x3FB8FB7C007A4A70, double 0x3FB992F68ABBBC89, double 0x3FBA2C83A3E6566D, double 0x3FBAC82559CB3644, double 0x3FBB65DDB7354604, double 0x3FBC05AEC3F4FE5E, double 0x3FBCA79A84EBE030, double 0x3FBD4BA2FC17A6A5, double 0x3FBDF1CA289D34B8, double 0x3FBE9A1206D34003, double 0x3FBF447C904CBB4E, double 0x3FBFF10BBBE302C2, double 0x3FC04FE0BEDFE5F1, double 0x3FC0A84FE3B36D8F, double 0x3FC101D443DFC06F, double 0x3FC15C6ED58EEFDF, double 0x3FC1B8208DA5FEF0, double 0x3FC214EA5FC9514A, double 0x3FC272CD3E610123, double 0x3FC2D1CA1A9D1CFB, double 0x3FC331E1E479CDF5, double 0x3FC393158AC3674E, double 0x3FC3F565FB1A5FD5, double 0x3FC458D421F735DF, double 0x3FC4BD60EAAE3E73, double 0x3FC5230D3F736034, double 0x3FC589DA095DBAA1, double 0x3FC5F1C8306B3A3C, double 0x3FC65AD89B841A2B, double 0x3FC6C50C307E53BF, double 0x3FC73063D420FC80, double 0x3FC79CE06A279303, double 0x3FC80A82D5453B5D, double 0x3FC8794BF727EB3F, double 0x3FC8E93CB07B8679, double 0x3FC95A55E0ECEC0B, double 0x3FC9CC98672CF47E, double 0x3FCA400520F3619C, double 0x3FCAB49CEB01C003, double 0x3FCB2A60A1263B0A, double 0x3FCBA1511E3E632D, double 0x3FCC196F3C39E76F, double 0x3FCC92BBD41D41FE, double 0x3FCD0D37BE045851, double 0x3FCD88E3D1250F68, double 0x3FCE05C0E3D1D3E0, double 0x3FCE83CFCB7C16F0, double 0x3FCF03115CB6BFD3, double 0x3FCF83866B38924D, double 0x3FD00297E4EF4553, double 0x3FD044072557177A, double 0x3FD086115F6BEB3A, double 0x3FD0C8B6FB5C735E, double 0x3FD10BF860EF039A, double 0x3FD14FD5F782A5A6, double 0x3FD1945026102997, double 0x3FD1D967532B31B1, double 0x3FD21F1BE50339E7, double 0x3FD2656E41649AE3, double 0x3FD2AC5ECDB988F8, double 0x3FD2F3EDEF0B0ED8, double 0x3FD33C1C0A020438, double 0x3FD384E982E800B1, double 0x3FD3CE56BDA84A81, double 0x3FD418641DD0C1BC, double 0x3FD463120692C7AF, double 0x3FD4AE60DAC4229D, double 0x3FD4FA50FCDFDE15, double 0x3FD546E2CF0727A9, double 0x3FD59416B3022858, double 0x3FD5E1ED0A40DAAB, double 0x3FD6306635DBDD7B, double 0x3FD67F82969543A2, double 0x3FD6CF428CD96079, double 0x3FD71FA678BF915D, double 0x3FD770AEBA0B042A, double 0x3FD7C25BB02B7AC5, double 0x3FD814ADBA3E0BD9, double 0x3FD867A5370DE0B1, double 0x3FD8BB428514F067, double 0x3FD90F86027CB84E, double 0x3FD964700D1EF1B1, double 0x3FD9BA0102864521, double 0x3FDA10393FEEFAFD, double 0x3FDA67192247A9BE, double 0x3FDABEA10631E195, double 0x3FDB16D14802D5CA, double 0x3FDB6FAA43C403BB, double 0x3FDBC92C5533D785, double 0x3FDC2357D7C64E5D, double 0x3FDC7E2D26A596DE, double 0x3FDCD9AC9CB2AEF2, double 0x3FDD35D69485FFC5, double 0x3FDD92AB686FF782, double 0x3FDDF02B7279A10D, double 0x3FDE4E570C6539C5, double 0x3FDEAD2E8FAEC526, double 0x3FDF0CB2558C9EA4, double 0x3FDF6CE2B6F00983, double 0x3FDFCDC00C85BEC2, double 0x3FE017A5575B3CB2, double 0x3FE048C17AD3C04B, double 0x3FE07A349C9D9837, double 0x3FE0ABFEE888C050, double 0x3FE0DE208A4444C8, double 0x3FE11099AD5E83EB, double 0x3FE1436A7D456EEF, double 0x3FE176932546CA12, double 0x3FE1AA13D0906BDA, double 0x3FE1DDECAA307B85, double 0x3FE2121DDD15AECE, double 0x3FE246A7940F86D1, double 0x3FE27B89F9CE8C4B, double 0x3FE2B0C538E48B07, double 0x3FE2E6597BC4CCA0, double 0x3FE31C46ECC4528D, double 0x3FE3528DB61A0F73, double 0x3FE3892E01DF1FCC, double 0x3FE3C027FA0F01EB, double 0x3FE3F77BC887CD3B, double 0x3FE42F29970A68F8, double 0x3FE467318F3AC22D, double 0x3FE49F93DAA00113, double 0x3FE4D850A2A4BDE1, double 0x3FE51168109734E5, double 0x3FE54ADA4DA97A1B, double 0x3FE584A782F1AC23, double 0x3FE5BECFD96A2698, double 0x3FE5F95379F1B3ED, double 0x3FE634328D4BBE97, double 0x3FE66F6D3C2081CF, double 0x3FE6AB03AEFD39AA, double 0x3FE6E6F60E5452B1, double 0x3FE72344827D98F6, double 0x3FE75FEF33B6669B, double 0x3FE79CF64A21D1E2, double 0x3FE7DA59EDC8DAB0, double 0x3FE8181A469A9787, double 0x3FE856377C6C6224, double 0x3FE894B1B6FA0377, double 0x3FE8D3891DE5DF49, double 0x3FE912BDD8B91F45, double 0x3FE952500EE3DDA5, double 0x3FE9923FE7BD4F67, double 0x3FE9D28D8A83EDFC, double 0x3FEA13391E5DA09F, double 0x3FEA5442CA57E52E, double 0x3FEA95AAB567F88F, double 0x3FEAD771066AFEC2, double 0x3FEB1995E4262A69, double 0x3FEB5C197546E3F8, double 0x3FEB9EFBE062F086, double 0x3FEBE23D4BF8981B, double 0x3FEC25DDDE6ECBBB, double 0x3FEC69DDBE154AF1, double 0x3FECAE3D1124C90B, double 0x3FECF2FBFDBF11F1, double 0x3FED381AA9EF2E82, double 0x3FED7D993BA988D4, double 0x3FEDC377D8CC0FD5, double 0x3FEE09B6A71E5AA6, double 0x3FEE5055CC51CBB4, double 0x3FEE97556E01B351, double 0x3FEEDEB5B1B37216, double 0x3FEF2676BCD69ADE, double 0x3FEF6E98B4C51466, double 0x3FEFB71BBEC33AB2, double 1.000000e+00], align 8
@__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes.1 = private unnamed_addr addrspace(4) constant [8 x i32] [i32 1, i32 1, i32 2, i32 2, i32 4, i32 4, i32 2, i32 4], align 4
@.str = private unnamed_addr addrspace(4) constant [26 x i8] c"misaligned surface access\00", align 1
@.str.1 = private unnamed_addr addrspace(4) constant [25 x i8] c"access outside a surface\00", align 1

define internal fastcc void @_ZN2aw6sampleERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull readonly align 8 dereferenceable(776) %0, ptr noundef nonnull readonly align 4 captures(none) dereferenceable(32) %1, ptr noundef readonly captures(none) %2, i64 noundef %3, ptr noundef writeonly captures(none) %4) unnamed_addr #0 {
  %6 = alloca [6 x [3 x double]], align 8, addrspace(5)
  %7 = alloca [3 x %"struct.aw::(anonymous namespace)::Axis"], align 8, addrspace(5)
  %8 = alloca [6 x [3 x double]], align 8, addrspace(5)
  %9 = alloca [3 x %"struct.aw::(anonymous namespace)::Axis"], align 8, addrspace(5)
  %10 = alloca [6 x [3 x double]], align 8, addrspace(5)
  %11 = alloca [3 x %"struct.aw::(anonymous namespace)::Axis"], align 8, addrspace(5)
  %12 = alloca %"struct.aw::(anonymous namespace)::Texel", align 8, addrspace(5)
  %13 = alloca [3 x double], align 8, addrspace(5)
  %14 = alloca [6 x [3 x double]], align 8, addrspace(5)
  %15 = alloca [3 x double], align 8, addrspace(5)
  %16 = alloca [2 x ptr], align 8, addrspace(5)
  %17 = alloca %"struct.aw::(anonymous namespace)::Target", align 8, addrspace(5)
  %18 = alloca [2 x ptr], align 8, addrspace(5)
  %19 = alloca [2 x [3 x double]], align 8, addrspace(5)
  %20 = alloca [3 x double], align 8, addrspace(5)
  %21 = alloca %"struct.aw::(anonymous namespace)::Target", align 8, addrspace(5)
  %22 = alloca [2 x [3 x double]], align 8, addrspace(5)
  %23 = alloca [2 x [3 x double]], align 8, addrspace(5)
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %25 = load i8, ptr %24, align 4
  %26 = trunc nuw i8 %25 to i1
  %27 = getelementptr inbounds nuw i8, ptr addrspace(5) %13, i32 8
  %28 = getelementptr inbounds nuw i8, ptr addrspace(5) %23, i32 24
  %29 = getelementptr inbounds nuw i8, ptr addrspace(5) %22, i32 24
  br i1 %26, label %30, label %.preheader194.preheader

30:                                               ; preds = %5
  %31 = addrspacecast ptr addrspace(5) %19 to ptr
  %32 = getelementptr inbounds nuw i8, ptr %1, i64 4
  %33 = load i32, ptr %32, align 4
  switch i32 %33, label %35 [
    i32 3, label %36
    i32 0, label %36
    i32 2, label %34
  ]

34:                                               ; preds = %30
  br label %36

35:                                               ; preds = %30
  br label %36

36:                                               ; preds = %35, %34, %30, %30
  %37 = phi i1 [ false, %35 ], [ false, %30 ], [ false, %30 ], [ true, %34 ]
  %38 = phi i32 [ 2, %35 ], [ 1, %30 ], [ 1, %30 ], [ 3, %34 ]
  switch i32 %33, label %47 [
    i32 6, label %39
    i32 4, label %39
    i32 3, label %39
    i32 8, label %39
  ]

39:                                               ; preds = %36, %36, %36, %36
  %40 = load i32, ptr %2, align 4
  %41 = getelementptr inbounds nuw i32, ptr %2, i64 1
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %43 = load i32, ptr %42, align 8
  %44 = tail call i32 @llvm.usub.sat.i32(i32 %43, i32 1)
  %45 = tail call i32 @llvm.umin.i32(i32 %44, i32 %40)
  %46 = zext i32 %45 to i64
  br label %47

47:                                               ; preds = %39, %36
  %48 = phi ptr [ %41, %39 ], [ %2, %36 ]
  %49 = phi i64 [ %46, %39 ], [ 0, %36 ]
  br label %54

50:                                               ; preds = %54
  %51 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %52 = load i32, ptr %51, align 4
  %53 = icmp eq i32 %52, 1
  br i1 %53, label %64, label %68

54:                                               ; preds = %54, %47
  %55 = phi i32 [ 0, %47 ], [ %62, %54 ]
  %56 = phi <3 x i64> [ zeroinitializer, %47 ], [ %61, %54 ]
  %57 = phi ptr [ %48, %47 ], [ %59, %54 ]
  %58 = load i32, ptr %57, align 4
  %59 = getelementptr inbounds nuw i32, ptr %57, i64 1
  %60 = sext i32 %58 to i64
  %61 = insertelement <3 x i64> %56, i64 %60, i32 %55
  %62 = add nuw nsw i32 %55, 1
  %63 = icmp eq i32 %62, %38
  br i1 %63, label %50, label %54

64:                                               ; preds = %50
  %65 = getelementptr inbounds nuw i32, ptr %59, i64 1
  %66 = load i32, ptr %59, align 4
  %67 = sext i32 %66 to i64
  br label %68

68:                                               ; preds = %64, %50
  %69 = phi ptr [ %65, %64 ], [ %59, %50 ]
  %70 = phi i64 [ %67, %64 ], [ 0, %50 ]
  %71 = icmp eq i32 %52, 2
  br i1 %71, label %72, label %160

72:                                               ; preds = %68
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %19) #11
  br label %73

73:                                               ; preds = %147, %72
  %74 = phi i32 [ 0, %72 ], [ %148, %147 ]
  %75 = phi ptr [ %69, %72 ], [ %153, %147 ]
  %76 = getelementptr inbounds nuw i8, ptr addrspace(5) %19, i32 %74
  br label %vector.ph639

77:                                               ; preds = %147
  %78 = getelementptr inbounds nuw i8, ptr %31, i64 24
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %18) #11
  store ptr %31, ptr addrspace(5) %18, align 8
  %79 = getelementptr inbounds nuw i8, ptr addrspace(5) %18, i32 8
  store ptr %78, ptr addrspace(5) %79, align 8
  br label %82

80:                                               ; preds = %87
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %18) #11
  %81 = fcmp ogt double %89, 0.000000e+00
  br i1 %81, label %102, label %112

82:                                               ; preds = %87, %77
  %83 = phi i32 [ 0, %77 ], [ %90, %87 ]
  %84 = phi double [ 0.000000e+00, %77 ], [ %89, %87 ]
  %85 = getelementptr inbounds nuw i8, ptr addrspace(5) %18, i32 %83
  %86 = load ptr, ptr addrspace(5) %85, align 8
  br label %92

87:                                               ; preds = %92
  %88 = fcmp olt double %84, %99
  %89 = select i1 %88, double %99, double %84
  %90 = add nuw nsw i32 %83, 8
  %91 = icmp eq i32 %90, 16
  br i1 %91, label %80, label %82

92:                                               ; preds = %92, %82
  %93 = phi i32 [ %100, %92 ], [ 0, %82 ]
  %94 = phi double [ %99, %92 ], [ 0.000000e+00, %82 ]
  %95 = zext nneg i32 %93 to i64
  %96 = getelementptr inbounds nuw double, ptr %86, i64 %95
  %97 = load double, ptr %96, align 8
  %98 = fmul double %97, %97
  %99 = fadd double %94, %98
  %100 = add nuw nsw i32 %93, 1
  %101 = icmp eq i32 %100, %38
  br i1 %101, label %87, label %92

102:                                              ; preds = %80
  %103 = call { double, i32 } @llvm.frexp.f64.i32(double %89)
  %104 = extractvalue { double, i32 } %103, 1
  %105 = extractvalue { double, i32 } %103, 0
  %106 = sitofp i32 %104 to double
  %107 = fptrunc double %105 to float
  %108 = call float @llvm.log2.f32(float %107)
  %109 = fpext float %108 to double
  %110 = fadd double %106, %109
  %111 = fmul double %110, 5.000000e-01
  br label %112

112:                                              ; preds = %102, %80
  %113 = phi double [ %111, %102 ], [ 0xFFF0000000000000, %80 ]
  %114 = getelementptr inbounds nuw i8, ptr %0, i64 36
  %115 = load float, ptr %114, align 4
  %116 = fpext float %115 to double
  %117 = getelementptr inbounds nuw i8, ptr %0, i64 20
  %118 = load i32, ptr %117, align 4
  %119 = add i32 %118, -1
  %120 = uitofp i32 %119 to double
  %121 = fcmp olt double %120, %116
  %122 = select i1 %121, double %120, double %116
  %123 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %124 = load float, ptr %123, align 8
  %125 = fpext float %124 to double
  %126 = fcmp olt double %125, 0.000000e+00
  %127 = select i1 %126, double 0.000000e+00, double %125
  %128 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %129 = load float, ptr %128, align 4
  %130 = fpext float %129 to double
  %131 = fadd double %113, %130
  %132 = fcmp olt double %122, %127
  %133 = select i1 %132, double %122, double %127
  %134 = fcmp olt double %131, %133
  %135 = fcmp olt double %122, %131
  %136 = select i1 %135, double %122, double %131
  %137 = select i1 %134, double %133, double %136
  %138 = fcmp olt double %137, 0.000000e+00
  %139 = fcmp ogt double %137, 1.800000e+01
  %140 = select i1 %139, double 1.800000e+01, double %137
  %141 = fmul double %140, 2.560000e+02
  %142 = select i1 %138, double 0.000000e+00, double %141
  %143 = fptosi double %142 to i32
  %144 = add nsw i32 %143, 128
  %145 = lshr i32 %144, 8
  %146 = zext nneg i32 %145 to i64
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %19) #11
  br label %160

147:                                              ; preds = %vector.ph639
  %148 = add nuw nsw i32 %74, 24
  %149 = icmp eq i32 %148, 48
  br i1 %149, label %77, label %73

vector.ph639:                                     ; preds = %vector.ph639, %73
  %150 = phi i32 [ 0, %73 ], [ %158, %vector.ph639 ]
  %151 = phi ptr [ %75, %73 ], [ %153, %vector.ph639 ]
  %152 = load float, ptr %151, align 4
  %153 = getelementptr inbounds nuw i32, ptr %151, i64 1
  %154 = fpext float %152 to double
  %155 = fcmp uno float %152, 0.000000e+00
  %156 = select i1 %155, double 0.000000e+00, double %154
  %157 = getelementptr inbounds nuw double, ptr addrspace(5) %76, i32 %150
  store double %156, ptr addrspace(5) %157, align 8
  %158 = add nuw nsw i32 %150, 1
  %159 = icmp eq i32 %158, %38
  br i1 %159, label %147, label %vector.ph639

160:                                              ; preds = %112, %68
  %161 = phi i64 [ %146, %112 ], [ %70, %68 ]
  %162 = phi ptr [ %153, %112 ], [ %69, %68 ]
  %163 = getelementptr inbounds nuw i8, ptr %1, i64 17
  %164 = load i8, ptr %163, align 1
  %165 = trunc nuw i8 %164 to i1
  br i1 %165, label %.preheader145, label %.loopexit146

.loopexit146:                                     ; preds = %.preheader145, %160
  %166 = phi <3 x i64> [ %61, %160 ], [ %184, %.preheader145 ]
  %167 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %168 = getelementptr inbounds nuw i8, ptr %0, i64 20
  %169 = load i32, ptr %168, align 4
  %170 = add i32 %169, -1
  %171 = zext i32 %170 to i64
  %172 = icmp slt i64 %161, 0
  %173 = call i64 @llvm.smin.i64(i64 %161, i64 %171)
  %174 = select i1 %172, i64 0, i64 %173
  %175 = getelementptr inbounds %"struct.aw::TextureLevel", ptr %167, i64 %174
  br label %188

.preheader145:                                    ; preds = %160, %.preheader145
  %176 = phi i32 [ %185, %.preheader145 ], [ 0, %160 ]
  %177 = phi <3 x i64> [ %184, %.preheader145 ], [ %61, %160 ]
  %178 = phi ptr [ %180, %.preheader145 ], [ %162, %160 ]
  %179 = load i32, ptr %178, align 4
  %180 = getelementptr inbounds nuw i32, ptr %178, i64 1
  %181 = sext i32 %179 to i64
  %182 = extractelement <3 x i64> %177, i32 %176
  %183 = add nsw i64 %182, %181
  %184 = insertelement <3 x i64> %177, i64 %183, i32 %176
  %185 = add nuw nsw i32 %176, 1
  %186 = icmp eq i32 %185, %38
  br i1 %186, label %.loopexit146, label %.preheader145

187:                                              ; preds = %202
  br i1 %204, label %211, label %.preheader

188:                                              ; preds = %202, %.loopexit146
  %189 = phi i32 [ 0, %.loopexit146 ], [ %205, %202 ]
  %190 = phi i1 [ true, %.loopexit146 ], [ %204, %202 ]
  %191 = extractelement <3 x i64> %166, i32 %189
  %192 = icmp sgt i64 %191, -1
  br i1 %192, label %193, label %202

193:                                              ; preds = %188
  %194 = icmp eq i32 %189, 0
  %195 = icmp eq i32 %189, 1
  %196 = select i1 %195, i64 28, i64 32
  %197 = select i1 %194, i64 24, i64 %196
  %198 = getelementptr inbounds nuw i8, ptr %175, i64 %197
  %199 = load i32, ptr %198, align 4
  %200 = zext i32 %199 to i64
  %201 = icmp samesign ult i64 %191, %200
  br label %202

202:                                              ; preds = %193, %188
  %203 = phi i1 [ false, %188 ], [ %201, %193 ]
  %204 = and i1 %190, %203
  %205 = add nuw nsw i32 %189, 1
  %206 = icmp eq i32 %205, %38
  br i1 %206, label %187, label %188

.preheader:                                       ; preds = %187, %.preheader
  %207 = phi i64 [ %209, %.preheader ], [ 0, %187 ]
  %208 = getelementptr inbounds nuw i8, ptr %4, i64 %207
  store i32 0, ptr %208, align 4
  %209 = add nuw nsw i64 %207, 4
  %210 = icmp eq i64 %209, 16
  br i1 %210, label %.loopexit, label %.preheader

211:                                              ; preds = %187
  %212 = insertelement <3 x i64> %166, i64 %49, i64 2
  %213 = select i1 %37, <3 x i64> %166, <3 x i64> %212
  %214 = extractelement <3 x i64> %213, i64 0
  %215 = extractelement <3 x i64> %213, i64 1
  %216 = extractelement <3 x i64> %213, i64 2
  %217 = load ptr, ptr %175, align 8
  %218 = getelementptr inbounds nuw i8, ptr %175, i64 16
  %219 = load i64, ptr %218, align 8
  %220 = mul i64 %219, %216
  %221 = getelementptr inbounds nuw i8, ptr %217, i64 %220
  %222 = getelementptr inbounds nuw i8, ptr %175, i64 8
  %223 = load i64, ptr %222, align 8
  %224 = mul i64 %223, %215
  %225 = getelementptr inbounds nuw i8, ptr %221, i64 %224
  %226 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %227 = load i8, ptr %226, align 1
  %228 = zext i8 %227 to i64
  %229 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %228
  %230 = load i32, ptr addrspace(4) %229, align 4
  %231 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %232 = load i8, ptr %231, align 4
  %233 = zext i8 %232 to i32
  %234 = mul i32 %230, %233
  %235 = zext i32 %234 to i64
  %236 = mul i64 %214, %235
  %237 = getelementptr inbounds nuw i8, ptr %225, i64 %236
  call fastcc void @_ZN2aw10read_texelERKNS_11TextureViewEPKhPj(ptr noundef nonnull readonly align 8 dereferenceable(776) %0, ptr noundef %237, ptr noundef %4) #12
  br label %.loopexit

.preheader194.preheader:                          ; preds = %5
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %20) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %21) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %17)
  %238 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 8
  store double 0.000000e+00, ptr addrspace(5) %238, align 8
  %239 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 16
  store double 0.000000e+00, ptr addrspace(5) %239, align 8
  %240 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 24
  store double 0.000000e+00, ptr addrspace(5) %240, align 8
  %241 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 32
  store i32 0, ptr addrspace(5) %241, align 8
  %242 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 36
  store i32 0, ptr addrspace(5) %242, align 4
  %243 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 40
  store i32 0, ptr addrspace(5) %243, align 8
  %244 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 48
  %245 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 56
  %246 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 64
  store i32 0, ptr addrspace(5) %246, align 8
  %247 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 68
  store i8 0, ptr addrspace(5) %247, align 4
  %248 = getelementptr inbounds nuw i8, ptr %1, i64 4
  %249 = load i32, ptr %248, align 4
  %250 = add i32 %249, -7
  %251 = icmp ult i32 %250, -2
  switch i32 %249, label %253 [
    i32 3, label %254
    i32 0, label %254
    i32 2, label %252
  ]

252:                                              ; preds = %.preheader194.preheader
  br label %254

253:                                              ; preds = %.preheader194.preheader
  br label %254

254:                                              ; preds = %253, %252, %.preheader194.preheader, %.preheader194.preheader
  %255 = phi i32 [ 2, %253 ], [ 1, %.preheader194.preheader ], [ 1, %.preheader194.preheader ], [ 3, %252 ]
  store i32 %255, ptr addrspace(5) %17, align 8
  switch i32 %249, label %266 [
    i32 6, label %256
    i32 4, label %256
    i32 3, label %256
    i32 8, label %256
  ]

256:                                              ; preds = %254, %254, %254, %254
  %257 = load i32, ptr %2, align 4
  %258 = getelementptr inbounds nuw i32, ptr %2, i64 1
  %259 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %260 = load i32, ptr %259, align 8
  %261 = udiv i32 %260, 6
  %262 = select i1 %251, i32 %260, i32 %261
  %263 = tail call i32 @llvm.usub.sat.i32(i32 %262, i32 1)
  %264 = tail call i32 @llvm.umin.i32(i32 %263, i32 %257)
  %265 = zext i32 %264 to i64
  br label %266

266:                                              ; preds = %256, %254
  %267 = phi ptr [ %2, %254 ], [ %258, %256 ]
  %268 = phi i64 [ 0, %254 ], [ %265, %256 ]
  store i64 %268, ptr addrspace(5) %244, align 8
  store i64 %268, ptr addrspace(5) %245, align 8
  %269 = select i1 %251, ptr addrspace(5) %238, ptr addrspace(5) %20
  br label %vector.ph

270:                                              ; preds = %vector.ph
  br i1 %251, label %271, label %289

271:                                              ; preds = %270
  %272 = load double, ptr addrspace(5) %238, align 8
  %273 = load double, ptr addrspace(5) %239, align 8
  %274 = load i64, ptr addrspace(5) %244, align 8
  %275 = load i32, ptr addrspace(5) %246, align 8
  %276 = load i8, ptr addrspace(5) %247, align 4
  br label %340

vector.ph:                                        ; preds = %vector.ph, %266
  %277 = phi i32 [ 0, %266 ], [ %285, %vector.ph ]
  %278 = phi ptr [ %267, %266 ], [ %280, %vector.ph ]
  %279 = load float, ptr %278, align 4
  %280 = getelementptr inbounds nuw i32, ptr %278, i64 1
  %281 = fpext float %279 to double
  %282 = fcmp uno float %279, 0.000000e+00
  %283 = select i1 %282, double 0.000000e+00, double %281
  %284 = getelementptr inbounds double, ptr addrspace(5) %269, i32 %277
  store double %283, ptr addrspace(5) %284, align 8
  %285 = add nuw i32 %277, 1
  %286 = load i32, ptr addrspace(5) %17, align 8
  %287 = select i1 %251, i32 %286, i32 3
  %288 = icmp ult i32 %285, %287
  br i1 %288, label %vector.ph, label %270

289:                                              ; preds = %270
  %290 = load double, ptr addrspace(5) %20, align 8
  %291 = getelementptr inbounds nuw i8, ptr addrspace(5) %20, i32 8
  %292 = load double, ptr addrspace(5) %291, align 8
  %293 = getelementptr inbounds nuw i8, ptr addrspace(5) %20, i32 16
  %294 = load double, ptr addrspace(5) %293, align 8
  %295 = tail call noundef double @llvm.fabs.f64(double %290)
  %296 = tail call noundef double @llvm.fabs.f64(double %292)
  %297 = tail call noundef double @llvm.fabs.f64(double %294)
  %298 = fcmp ult double %297, %295
  %299 = fcmp ult double %297, %296
  %300 = or i1 %298, %299
  br i1 %300, label %308, label %301

301:                                              ; preds = %289
  %302 = bitcast double %294 to i64
  %303 = icmp slt i64 %302, 0
  %304 = fneg double %290
  %305 = fneg double %292
  %306 = select i1 %303, i32 5, i32 4
  %307 = select i1 %303, double %304, double %290
  br label %324

308:                                              ; preds = %289
  %309 = fcmp ult double %296, %295
  br i1 %309, label %316, label %310

310:                                              ; preds = %308
  %311 = bitcast double %292 to i64
  %312 = icmp slt i64 %311, 0
  %313 = fneg double %294
  %314 = select i1 %312, i32 3, i32 2
  %315 = select i1 %312, double %313, double %294
  br label %324

316:                                              ; preds = %308
  %317 = bitcast double %290 to i64
  %318 = icmp slt i64 %317, 0
  %319 = fneg double %292
  %320 = fneg double %294
  %321 = lshr i64 %317, 63
  %322 = trunc nuw nsw i64 %321 to i32
  %323 = select i1 %318, double %294, double %320
  br label %324

324:                                              ; preds = %316, %310, %301
  %325 = phi i32 [ %306, %301 ], [ %314, %310 ], [ %322, %316 ]
  %326 = phi double [ %307, %301 ], [ %290, %310 ], [ %323, %316 ]
  %327 = phi double [ %305, %301 ], [ %315, %310 ], [ %319, %316 ]
  %328 = phi double [ %297, %301 ], [ %296, %310 ], [ %295, %316 ]
  %329 = fcmp ogt double %328, 0.000000e+00
  %330 = select i1 %329, double %328, double 1.000000e+00
  %331 = fdiv double %326, %330
  %332 = fadd double %331, 1.000000e+00
  %333 = fmul double %332, 5.000000e-01
  %334 = fdiv double %327, %330
  %335 = fadd double %334, 1.000000e+00
  %336 = fmul double %335, 5.000000e-01
  %337 = mul nuw nsw i64 %268, 6
  %338 = zext nneg i32 %325 to i64
  %339 = add nuw nsw i64 %337, %338
  br label %340

340:                                              ; preds = %324, %271
  %341 = phi i8 [ %276, %271 ], [ 1, %324 ]
  %342 = phi i32 [ %275, %271 ], [ %325, %324 ]
  %343 = phi i64 [ %274, %271 ], [ %339, %324 ]
  %344 = phi double [ %273, %271 ], [ %336, %324 ]
  %345 = phi double [ %272, %271 ], [ %333, %324 ]
  %346 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 4
  %347 = load i8, ptr addrspace(5) %346, align 4
  %348 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 5
  %349 = load i8, ptr addrspace(5) %348, align 1
  %350 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 6
  %351 = load i8, ptr addrspace(5) %350, align 2
  %352 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 7
  %353 = load i8, ptr addrspace(5) %352, align 1
  %354 = load double, ptr addrspace(5) %240, align 8
  %355 = load i32, ptr addrspace(5) %241, align 8
  %356 = load i32, ptr addrspace(5) %242, align 4
  %357 = load i32, ptr addrspace(5) %243, align 8
  %358 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 44
  %359 = load i8, ptr addrspace(5) %358, align 4
  %360 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 45
  %361 = load i8, ptr addrspace(5) %360, align 1
  %362 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 46
  %363 = load i8, ptr addrspace(5) %362, align 2
  %364 = getelementptr inbounds nuw i8, ptr addrspace(5) %17, i32 47
  %365 = load i8, ptr addrspace(5) %364, align 1
  %366 = load i64, ptr addrspace(5) %245, align 8
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %17)
  store i32 %286, ptr addrspace(5) %21, align 8
  %367 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 4
  store i8 %347, ptr addrspace(5) %367, align 4
  %368 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 5
  store i8 %349, ptr addrspace(5) %368, align 1
  %369 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 6
  store i8 %351, ptr addrspace(5) %369, align 2
  %370 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 7
  store i8 %353, ptr addrspace(5) %370, align 1
  %371 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 8
  store double %345, ptr addrspace(5) %371, align 8
  %372 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 16
  store double %344, ptr addrspace(5) %372, align 8
  %373 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 24
  store double %354, ptr addrspace(5) %373, align 8
  %374 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 32
  store i32 %355, ptr addrspace(5) %374, align 8
  %375 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 36
  store i32 %356, ptr addrspace(5) %375, align 4
  %376 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 40
  store i32 %357, ptr addrspace(5) %376, align 8
  %377 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 44
  store i8 %359, ptr addrspace(5) %377, align 4
  %378 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 45
  store i8 %361, ptr addrspace(5) %378, align 1
  %379 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 46
  store i8 %363, ptr addrspace(5) %379, align 2
  %380 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 47
  store i8 %365, ptr addrspace(5) %380, align 1
  %381 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 48
  store i64 %343, ptr addrspace(5) %381, align 8
  %382 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 56
  store i64 %366, ptr addrspace(5) %382, align 8
  %383 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 64
  store i32 %342, ptr addrspace(5) %383, align 8
  %384 = getelementptr inbounds nuw i8, ptr addrspace(5) %21, i32 68
  store i8 %341, ptr addrspace(5) %384, align 4
  %385 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %386 = load i32, ptr %385, align 4
  %387 = icmp eq i32 %386, 1
  br i1 %387, label %vector.ph507, label %391

vector.ph507:                                     ; preds = %340
  %388 = load float, ptr %280, align 4
  %389 = getelementptr inbounds nuw i32, ptr %280, i64 1
  %390 = fpext float %388 to double
  br label %391

391:                                              ; preds = %vector.ph507, %340
  %392 = phi ptr [ %389, %vector.ph507 ], [ %280, %340 ]
  %393 = phi double [ %390, %vector.ph507 ], [ 0.000000e+00, %340 ]
  %394 = icmp eq i32 %386, 2
  br i1 %394, label %395, label %551

395:                                              ; preds = %391
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %22) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %23) #11
  call void @llvm.memset.p5.i64(ptr addrspace(5) noundef align 8 dereferenceable(48) %23, i8 0, i64 48, i1 false)
  %396 = add i32 %249, -5
  %397 = icmp ult i32 %396, 2
  %398 = select i1 %397, i32 3, i32 %286
  %399 = icmp eq i32 %398, 0
  br label %400

400:                                              ; preds = %.loopexit193, %395
  %401 = phi i32 [ 0, %395 ], [ %436, %.loopexit193 ]
  %402 = phi ptr [ %392, %395 ], [ %435, %.loopexit193 ]
  %403 = getelementptr inbounds nuw i8, ptr addrspace(5) %22, i32 %401
  br i1 %399, label %.loopexit193, label %.preheader192

404:                                              ; preds = %.loopexit193
  br i1 %397, label %405, label %.loopexit191

405:                                              ; preds = %404
  %406 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 8
  %407 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 16
  %408 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 24
  %409 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 32
  %410 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 40
  %411 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 48
  %412 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 56
  %413 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 64
  %414 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 72
  %415 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 80
  %416 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 88
  %417 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 96
  %418 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 104
  %419 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 112
  %420 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 120
  %421 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 128
  %422 = getelementptr inbounds nuw i8, ptr addrspace(5) %14, i32 136
  %423 = getelementptr inbounds [3 x double], ptr addrspace(5) %14, i32 %342
  %424 = load double, ptr addrspace(5) %20, align 8
  %425 = tail call noundef double @llvm.fabs.f64(double %424)
  %426 = getelementptr inbounds nuw i8, ptr addrspace(5) %15, i32 8
  %427 = getelementptr inbounds nuw i8, ptr addrspace(5) %20, i32 8
  %428 = load double, ptr addrspace(5) %427, align 8
  %429 = tail call noundef double @llvm.fabs.f64(double %428)
  %430 = getelementptr inbounds nuw i8, ptr addrspace(5) %15, i32 16
  %431 = getelementptr inbounds nuw i8, ptr addrspace(5) %20, i32 16
  %432 = load double, ptr addrspace(5) %431, align 8
  %433 = tail call noundef double @llvm.fabs.f64(double %432)
  %434 = getelementptr inbounds nuw i8, ptr addrspace(5) %13, i32 16
  br label %502

.loopexit193:                                     ; preds = %.preheader192, %400
  %435 = phi ptr [ %402, %400 ], [ %441, %.preheader192 ]
  %436 = add nuw nsw i32 %401, 24
  %437 = icmp eq i32 %436, 48
  br i1 %437, label %404, label %400

.preheader192:                                    ; preds = %400, %.preheader192
  %438 = phi i32 [ %446, %.preheader192 ], [ 0, %400 ]
  %439 = phi ptr [ %441, %.preheader192 ], [ %402, %400 ]
  %440 = load float, ptr %439, align 4
  %441 = getelementptr inbounds nuw i32, ptr %439, i64 1
  %442 = fpext float %440 to double
  %443 = fcmp uno float %440, 0.000000e+00
  %444 = select i1 %443, double 0.000000e+00, double %442
  %445 = getelementptr inbounds double, ptr addrspace(5) %403, i32 %438
  store double %444, ptr addrspace(5) %445, align 8
  %446 = add nuw i32 %438, 1
  %447 = icmp eq i32 %446, %398
  br i1 %447, label %.loopexit193, label %.preheader192

.loopexit191:                                     ; preds = %550, %404
  %448 = phi ptr addrspace(5) [ %22, %404 ], [ %23, %550 ]
  %449 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %450 = load i8, ptr %449, align 1
  %451 = trunc nuw i8 %450 to i1
  %452 = or i1 %397, %451
  %453 = addrspacecast ptr addrspace(5) %448 to ptr
  %454 = getelementptr inbounds nuw i8, ptr %453, i64 24
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %16) #11
  store ptr %453, ptr addrspace(5) %16, align 8
  %455 = getelementptr inbounds nuw i8, ptr addrspace(5) %16, i32 8
  store ptr %454, ptr addrspace(5) %455, align 8
  %456 = icmp eq i32 %286, 0
  %457 = getelementptr inbounds nuw i8, ptr %0, i64 56
  br label %460

458:                                              ; preds = %.loopexit190
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %16) #11
  %459 = fcmp ogt double %467, 0.000000e+00
  br i1 %459, label %490, label %500

460:                                              ; preds = %.loopexit190, %.loopexit191
  %461 = phi i32 [ 0, %.loopexit191 ], [ %468, %.loopexit190 ]
  %462 = phi double [ 0.000000e+00, %.loopexit191 ], [ %467, %.loopexit190 ]
  %463 = getelementptr inbounds nuw i8, ptr addrspace(5) %16, i32 %461
  %464 = load ptr, ptr addrspace(5) %463, align 8
  br i1 %456, label %.loopexit190, label %.preheader189

.loopexit190:                                     ; preds = %483, %460
  %465 = phi double [ 0.000000e+00, %460 ], [ %487, %483 ]
  %466 = fcmp olt double %462, %465
  %467 = select i1 %466, double %465, double %462
  %468 = add nuw nsw i32 %461, 8
  %469 = icmp eq i32 %468, 16
  br i1 %469, label %458, label %460

.preheader189:                                    ; preds = %460, %483
  %470 = phi i32 [ %488, %483 ], [ 0, %460 ]
  %471 = phi double [ %487, %483 ], [ 0.000000e+00, %460 ]
  %472 = zext i32 %470 to i64
  %473 = getelementptr inbounds nuw double, ptr %464, i64 %472
  %474 = load double, ptr %473, align 8
  br i1 %452, label %475, label %483

475:                                              ; preds = %.preheader189
  %476 = icmp eq i32 %470, 0
  %477 = icmp eq i32 %470, 1
  %478 = select i1 %477, i64 28, i64 32
  %479 = select i1 %476, i64 24, i64 %478
  %480 = getelementptr inbounds nuw i8, ptr %457, i64 %479
  %481 = load i32, ptr %480, align 4
  %482 = uitofp i32 %481 to double
  br label %483

483:                                              ; preds = %475, %.preheader189
  %484 = phi double [ %482, %475 ], [ 1.000000e+00, %.preheader189 ]
  %485 = fmul double %474, %484
  %486 = fmul double %485, %485
  %487 = fadd double %471, %486
  %488 = add nuw i32 %470, 1
  %489 = icmp eq i32 %488, %286
  br i1 %489, label %.loopexit190, label %.preheader189

490:                                              ; preds = %458
  %491 = call { double, i32 } @llvm.frexp.f64.i32(double %467)
  %492 = extractvalue { double, i32 } %491, 1
  %493 = extractvalue { double, i32 } %491, 0
  %494 = sitofp i32 %492 to double
  %495 = fptrunc double %493 to float
  %496 = call float @llvm.log2.f32(float %495)
  %497 = fpext float %496 to double
  %498 = fadd double %494, %497
  %499 = fmul double %498, 5.000000e-01
  br label %500

500:                                              ; preds = %490, %458
  %501 = phi double [ %499, %490 ], [ 0xFFF0000000000000, %458 ]
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %23) #11
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %22) #11
  br label %551

502:                                              ; preds = %550, %405
  %503 = phi i1 [ true, %405 ], [ false, %550 ]
  %504 = phi ptr addrspace(5) [ %23, %405 ], [ %28, %550 ]
  %505 = phi ptr addrspace(5) [ %22, %405 ], [ %29, %550 ]
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %13) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %14) #11
  %506 = getelementptr inbounds nuw i8, ptr addrspace(5) %505, i32 16
  %507 = load double, ptr addrspace(5) %506, align 8
  %508 = fneg double %507
  store double %508, ptr addrspace(5) %14, align 8
  %509 = getelementptr inbounds nuw i8, ptr addrspace(5) %505, i32 8
  %510 = load double, ptr addrspace(5) %509, align 8
  %511 = fneg double %510
  store double %511, ptr addrspace(5) %406, align 8
  %512 = load double, ptr addrspace(5) %505, align 8
  store double %512, ptr addrspace(5) %407, align 8
  store double %507, ptr addrspace(5) %408, align 8
  store double %511, ptr addrspace(5) %409, align 8
  %513 = fneg double %512
  store double %513, ptr addrspace(5) %410, align 8
  store double %512, ptr addrspace(5) %411, align 8
  store double %507, ptr addrspace(5) %412, align 8
  store double %510, ptr addrspace(5) %413, align 8
  store double %512, ptr addrspace(5) %414, align 8
  store double %508, ptr addrspace(5) %415, align 8
  store double %511, ptr addrspace(5) %416, align 8
  store double %512, ptr addrspace(5) %417, align 8
  store double %511, ptr addrspace(5) %418, align 8
  store double %507, ptr addrspace(5) %419, align 8
  store double %513, ptr addrspace(5) %420, align 8
  store double %511, ptr addrspace(5) %421, align 8
  store double %508, ptr addrspace(5) %422, align 8
  br label %514

514:                                              ; preds = %514, %502
  %515 = phi ptr addrspace(5) [ %519, %514 ], [ %13, %502 ]
  %516 = phi i32 [ %520, %514 ], [ 0, %502 ]
  %517 = getelementptr inbounds nuw i8, ptr addrspace(5) %423, i32 %516
  %518 = load double, ptr addrspace(5) %517, align 8
  %519 = getelementptr inbounds nuw i8, ptr addrspace(5) %515, i32 8
  store double %518, ptr addrspace(5) %515, align 8
  %520 = add nuw nsw i32 %516, 8
  %521 = icmp eq i32 %520, 24
  br i1 %521, label %522, label %514

522:                                              ; preds = %514
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %15) #11
  store double %425, ptr addrspace(5) %15, align 8
  store double %429, ptr addrspace(5) %426, align 8
  store double %433, ptr addrspace(5) %430, align 8
  br label %523

523:                                              ; preds = %523, %522
  %524 = phi i32 [ %530, %523 ], [ 0, %522 ]
  %525 = phi double [ %529, %523 ], [ %425, %522 ]
  %526 = getelementptr inbounds nuw i8, ptr addrspace(5) %15, i32 %524
  %527 = load double, ptr addrspace(5) %526, align 8
  %528 = fcmp olt double %525, %527
  %529 = select i1 %528, double %527, double %525
  %530 = add nuw nsw i32 %524, 8
  %531 = icmp eq i32 %530, 24
  br i1 %531, label %532, label %523

532:                                              ; preds = %523
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %15) #11
  %533 = fcmp oeq double %529, 0.000000e+00
  %534 = select i1 %533, double 1.000000e+00, double %529
  %535 = load double, ptr addrspace(5) %434, align 8
  br label %536

536:                                              ; preds = %536, %532
  %537 = phi i1 [ true, %532 ], [ false, %536 ]
  %538 = phi ptr addrspace(5) [ %13, %532 ], [ %27, %536 ]
  %539 = phi i32 [ 0, %532 ], [ 1, %536 ]
  %540 = load double, ptr addrspace(5) %538, align 8
  %541 = getelementptr inbounds nuw double, ptr addrspace(5) %371, i32 %539
  %542 = load double, ptr addrspace(5) %541, align 8
  %543 = fmul double %542, 2.000000e+00
  %544 = fadd double %543, -1.000000e+00
  %545 = fmul double %535, %544
  %546 = fsub double %540, %545
  %547 = fdiv double %546, %534
  %548 = fmul double %547, 5.000000e-01
  %549 = getelementptr inbounds nuw double, ptr addrspace(5) %504, i32 %539
  store double %548, ptr addrspace(5) %549, align 8
  br i1 %537, label %536, label %550

550:                                              ; preds = %536
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %14) #11
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %13) #11
  br i1 %503, label %502, label %.loopexit191

551:                                              ; preds = %500, %391
  %552 = phi ptr [ %435, %500 ], [ %392, %391 ]
  %553 = phi double [ %501, %500 ], [ %393, %391 ]
  %554 = getelementptr inbounds nuw i8, ptr %1, i64 17
  %555 = load i8, ptr %554, align 1
  %556 = trunc nuw i8 %555 to i1
  %557 = icmp ne i32 %286, 0
  %558 = select i1 %556, i1 %557, i1 false
  br i1 %558, label %.preheader187, label %.loopexit188

.loopexit188:                                     ; preds = %.preheader187, %551
  %559 = phi i32 [ %286, %551 ], [ %573, %.preheader187 ]
  %560 = icmp eq i32 %386, 0
  %561 = getelementptr inbounds nuw i8, ptr %0, i64 20
  %562 = load i32, ptr %561, align 4
  %563 = icmp eq i32 %562, 1
  %564 = select i1 %560, i1 true, i1 %563
  br i1 %564, label %565, label %575

565:                                              ; preds = %.loopexit188
  %566 = add i32 %562, -1
  br label %606

.preheader187:                                    ; preds = %551, %.preheader187
  %567 = phi i32 [ %572, %.preheader187 ], [ 0, %551 ]
  %568 = phi ptr [ %570, %.preheader187 ], [ %552, %551 ]
  %569 = load i32, ptr %568, align 4
  %570 = getelementptr inbounds nuw i32, ptr %568, i64 1
  %571 = getelementptr inbounds i32, ptr addrspace(5) %374, i32 %567
  store i32 %569, ptr addrspace(5) %571, align 4
  %572 = add nuw i32 %567, 1
  %573 = load i32, ptr addrspace(5) %21, align 8
  %574 = icmp ult i32 %572, %573
  br i1 %574, label %.preheader187, label %.loopexit188

575:                                              ; preds = %.loopexit188
  %576 = getelementptr inbounds nuw i8, ptr %0, i64 36
  %577 = load float, ptr %576, align 4
  %578 = fpext float %577 to double
  %579 = add i32 %562, -1
  %580 = uitofp i32 %579 to double
  %581 = fcmp olt double %580, %578
  %582 = select i1 %581, double %580, double %578
  %583 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %584 = load float, ptr %583, align 8
  %585 = fpext float %584 to double
  %586 = fcmp olt double %585, 0.000000e+00
  %587 = select i1 %586, double 0.000000e+00, double %585
  %588 = fcmp uno double %553, 0.000000e+00
  %589 = getelementptr inbounds nuw i8, ptr %0, i64 28
  %590 = load float, ptr %589, align 4
  %591 = fpext float %590 to double
  %592 = fadd double %553, %591
  %593 = select i1 %588, double 0.000000e+00, double %592
  %594 = fcmp olt double %582, %587
  %595 = select i1 %594, double %582, double %587
  %596 = fcmp olt double %593, %595
  %597 = fcmp olt double %582, %593
  %598 = select i1 %597, double %582, double %593
  %599 = select i1 %596, double %595, double %598
  %600 = fcmp olt double %599, 0.000000e+00
  %601 = fcmp ogt double %599, 1.800000e+01
  %602 = select i1 %601, double 1.800000e+01, double %599
  %603 = fmul double %602, 2.560000e+02
  %604 = select i1 %600, double 0.000000e+00, double %603
  %605 = fptosi double %604 to i32
  br label %606

606:                                              ; preds = %575, %565
  %607 = phi i32 [ %566, %565 ], [ %579, %575 ]
  %608 = phi i32 [ 0, %565 ], [ %605, %575 ]
  %609 = add nsw i32 %608, 128
  %610 = lshr i32 %609, 8
  %611 = call i32 @llvm.umin.i32(i32 %607, i32 %610)
  %612 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %613 = load i8, ptr %612, align 1
  %614 = icmp ugt i8 %613, 5
  br i1 %614, label %773, label %615

615:                                              ; preds = %606
  %616 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %617 = load i8, ptr %616, align 8
  %618 = trunc nuw i8 %617 to i1
  %619 = zext nneg i8 %613 to i64
  %620 = shl nuw nsw i64 1, %619
  %621 = and i64 %620, 79
  %622 = icmp ne i64 %621, 0
  %623 = select i1 %618, i1 %622, i1 false
  br i1 %623, label %773, label %624

624:                                              ; preds = %615
  %625 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %626 = zext nneg i32 %611 to i64
  %627 = getelementptr inbounds nuw %"struct.aw::TextureLevel", ptr %625, i64 %626
  %628 = icmp eq i32 %559, 3
  %629 = load i64, ptr addrspace(5) %381, align 8
  %630 = select i1 %628, i64 0, i64 %629
  %631 = insertelement <3 x i64> <i64 0, i64 0, i64 poison>, i64 %630, i64 2
  %632 = icmp eq i32 %559, 0
  br i1 %632, label %.loopexit186, label %633

633:                                              ; preds = %624
  %634 = getelementptr inbounds nuw i8, ptr %0, i64 14
  %635 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %636 = load i8, ptr %635, align 1
  %637 = trunc nuw i8 %636 to i1
  %638 = load i8, ptr addrspace(5) %384, align 4
  %639 = trunc nuw i8 %638 to i1
  %640 = select i1 %637, i1 true, i1 %639
  br label %648

.loopexit186:                                     ; preds = %732, %624
  %641 = phi <3 x i64> [ %631, %624 ], [ %734, %732 ]
  %642 = phi i1 [ false, %624 ], [ %736, %732 ]
  br i1 %642, label %643, label %751

643:                                              ; preds = %.loopexit186
  %644 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %645 = load i8, ptr %644, align 4
  %646 = zext i8 %645 to i32
  %647 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %739

648:                                              ; preds = %732, %633
  %649 = phi i1 [ false, %633 ], [ %736, %732 ]
  %650 = phi i32 [ 0, %633 ], [ %737, %732 ]
  %651 = phi <3 x i64> [ %631, %633 ], [ %734, %732 ]
  %652 = zext i32 %650 to i64
  %653 = getelementptr inbounds nuw i8, ptr %634, i64 %652
  %654 = load i8, ptr %653, align 1
  %655 = getelementptr inbounds double, ptr addrspace(5) %371, i32 %650
  %656 = load double, ptr addrspace(5) %655, align 8
  %657 = getelementptr inbounds i32, ptr addrspace(5) %374, i32 %650
  %658 = load i32, ptr addrspace(5) %657, align 4
  %659 = icmp eq i32 %650, 1
  %660 = select i1 %659, i64 28, i64 32
  %661 = icmp eq i32 %650, 0
  %662 = select i1 %661, i64 24, i64 %660
  %663 = getelementptr inbounds nuw i8, ptr %627, i64 %662
  %664 = load i32, ptr %663, align 4
  %665 = zext i32 %664 to i64
  %666 = and i8 %654, -3
  %667 = icmp ne i8 %666, 0
  %668 = or i1 %640, %667
  %669 = select i1 %668, i8 %654, i8 1
  %670 = uitofp i32 %664 to double
  %671 = fmul double %656, %670
  %672 = select i1 %640, double %671, double %656
  %673 = sitofp i32 %658 to double
  %674 = fadd double %672, %673
  %675 = and i8 %669, -3
  %676 = icmp eq i8 %675, 1
  br i1 %676, label %677, label %682

677:                                              ; preds = %648
  %678 = fcmp olt double %674, -1.000000e+09
  %679 = fcmp ogt double %674, 1.000000e+09
  %680 = select i1 %679, double 1.000000e+09, double %674
  %681 = select i1 %678, double -1.000000e+09, double %680
  br label %718

682:                                              ; preds = %648
  %683 = call double @llvm.fabs.f64(double %674)
  %684 = fcmp ueq double %683, 0x7FF0000000000000
  br i1 %684, label %718, label %685

685:                                              ; preds = %682
  %686 = icmp eq i8 %669, 2
  %687 = zext i1 %686 to i64
  %688 = shl nuw nsw i64 %665, %687
  %689 = uitofp nneg i64 %688 to double
  %690 = fcmp ult double %683, %689
  br i1 %690, label %.loopexit185, label %.preheader184

.preheader184:                                    ; preds = %685, %.preheader184
  %691 = phi double [ %698, %.preheader184 ], [ %683, %685 ]
  %692 = fdiv double %691, %689
  %693 = fmul double %692, 0x3FEFFFFFFFFFFFFE
  %694 = call double @llvm.trunc.f64(double %693)
  %695 = fcmp olt double %694, 1.000000e+00
  %696 = fneg double %694
  %697 = select i1 %695, double -1.000000e+00, double %696
  %698 = call double @llvm.fma.f64(double %697, double %689, double %691)
  %699 = fcmp ult double %698, %689
  br i1 %699, label %.loopexit185, label %.preheader184

.loopexit185:                                     ; preds = %.preheader184, %685
  %700 = phi double [ %683, %685 ], [ %698, %.preheader184 ]
  %701 = fcmp olt double %674, 0.000000e+00
  %702 = fneg double %700
  %703 = select i1 %701, double %702, double %700
  %704 = fcmp olt double %703, 0.000000e+00
  %705 = fadd double %703, %689
  %706 = select i1 %704, double %705, double %703
  %707 = icmp ne i8 %669, 0
  %708 = fcmp ult double %706, %689
  %709 = or i1 %707, %708
  %710 = bitcast double %689 to i64
  %711 = add nsw i64 %710, -1
  %712 = bitcast i64 %711 to double
  %713 = select i1 %709, double %706, double %712
  %714 = fcmp oge double %713, %670
  %715 = select i1 %686, i1 %714, i1 false
  %716 = fsub double %689, %713
  %717 = select i1 %715, double %716, double %713
  br label %718

718:                                              ; preds = %.loopexit185, %682, %677
  %719 = phi double [ %681, %677 ], [ %717, %.loopexit185 ], [ 0.000000e+00, %682 ]
  %720 = call noundef double @llvm.floor.f64(double %719)
  %721 = fptosi double %720 to i64
  %722 = icmp ult i64 %721, %665
  br i1 %722, label %732, label %723

723:                                              ; preds = %718
  switch i8 %669, label %732 [
    i8 0, label %724
    i8 2, label %728
    i8 1, label %728
  ]

724:                                              ; preds = %723
  %725 = srem i64 %721, %665
  %726 = add nsw i64 %725, %665
  %727 = srem i64 %726, %665
  br label %732

728:                                              ; preds = %723, %723
  %729 = icmp slt i64 %721, 0
  %730 = add nsw i64 %665, -1
  %731 = select i1 %729, i64 0, i64 %730
  br label %732

732:                                              ; preds = %728, %724, %723, %718
  %733 = phi i64 [ -1, %723 ], [ %731, %728 ], [ %721, %718 ], [ %727, %724 ]
  %734 = insertelement <3 x i64> %651, i64 %733, i32 %650
  %735 = icmp eq i64 %733, -1
  %736 = or i1 %649, %735
  %737 = add nuw i32 %650, 1
  %738 = icmp eq i32 %737, %559
  br i1 %738, label %.loopexit186, label %648

739:                                              ; preds = %746, %643
  %740 = phi i32 [ 0, %643 ], [ %749, %746 ]
  %741 = icmp samesign ult i32 %740, %646
  %742 = zext nneg i32 %740 to i64
  br i1 %741, label %743, label %746

743:                                              ; preds = %739
  %744 = getelementptr inbounds nuw i32, ptr %647, i64 %742
  %745 = load i32, ptr %744, align 4
  br label %746

746:                                              ; preds = %743, %739
  %747 = phi i32 [ %745, %743 ], [ 0, %739 ]
  %748 = getelementptr inbounds nuw i32, ptr %4, i64 %742
  store i32 %747, ptr %748, align 4
  %749 = add nuw nsw i32 %740, 1
  %750 = icmp eq i32 %749, 4
  br i1 %750, label %.loopexit183, label %739

751:                                              ; preds = %.loopexit186
  %752 = extractelement <3 x i64> %641, i64 0
  %753 = extractelement <3 x i64> %641, i64 1
  %754 = extractelement <3 x i64> %641, i64 2
  %755 = load ptr, ptr %627, align 8
  %756 = getelementptr inbounds nuw i8, ptr %627, i64 16
  %757 = load i64, ptr %756, align 8
  %758 = mul i64 %757, %754
  %759 = getelementptr inbounds nuw i8, ptr %755, i64 %758
  %760 = getelementptr inbounds nuw i8, ptr %627, i64 8
  %761 = load i64, ptr %760, align 8
  %762 = mul i64 %761, %753
  %763 = getelementptr inbounds nuw i8, ptr %759, i64 %762
  %764 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %619
  %765 = load i32, ptr addrspace(4) %764, align 4
  %766 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %767 = load i8, ptr %766, align 4
  %768 = zext i8 %767 to i32
  %769 = mul i32 %765, %768
  %770 = zext i32 %769 to i64
  %771 = mul i64 %752, %770
  %772 = getelementptr inbounds nuw i8, ptr %763, i64 %771
  call fastcc void @_ZN2aw10read_texelERKNS_11TextureViewEPKhPj(ptr noundef nonnull readonly align 8 dereferenceable(776) %0, ptr noundef %772, ptr noundef %4) #12
  br label %.loopexit183

773:                                              ; preds = %615, %606
  %774 = getelementptr inbounds nuw i8, ptr %0, i64 5
  %775 = load i8, ptr %774, align 1
  %776 = trunc nuw i8 %775 to i1
  %777 = shl i32 %559, 3
  %778 = call double @llvm.ldexp.f64.i32(double 1.000000e+00, i32 %777)
  %779 = select i1 %776, double 1.000000e+00, double %778
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %12) #11
  call void @llvm.memset.p5.i64(ptr addrspace(5) noundef align 8 dereferenceable(32) %12, i8 0, i64 32, i1 false)
  %780 = lshr i32 %608, 8
  %781 = and i32 %608, 255
  %782 = getelementptr inbounds nuw i8, ptr %0, i64 6
  %783 = load i8, ptr %782, align 2
  %784 = trunc nuw i8 %783 to i1
  %785 = icmp ne i32 %781, 0
  %786 = and i1 %785, %784
  br i1 %786, label %787, label %790

787:                                              ; preds = %773
  %788 = add nuw nsw i32 %780, 1
  %789 = icmp ult i32 %788, %562
  br i1 %789, label %1401, label %790

790:                                              ; preds = %787, %773
  %791 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %792 = select i1 %784, i32 %780, i32 %610
  %793 = call i32 @llvm.umin.i32(i32 %792, i32 %607)
  %794 = zext nneg i32 %793 to i64
  %795 = getelementptr inbounds nuw %"struct.aw::TextureLevel", ptr %791, i64 %794
  %796 = trunc nuw i8 %341 to i1
  %797 = getelementptr inbounds nuw i8, ptr %0, i64 10
  %798 = load i8, ptr %797, align 2
  %799 = trunc nuw i8 %798 to i1
  %800 = select i1 %796, i1 %799, i1 false
  %801 = xor i1 %800, true
  %802 = select i1 %801, i1 true, i1 %776
  br i1 %802, label %1105, label %803

803:                                              ; preds = %790
  %804 = getelementptr inbounds nuw i8, ptr %795, i64 24
  %805 = load i32, ptr %804, align 8
  %806 = uitofp i32 %805 to double
  br label %815

807:                                              ; preds = %815
  %808 = zext i32 %805 to i64
  %809 = extractelement <2 x i32> %832, i64 0
  %810 = sub i32 256, %809
  %811 = extractelement <2 x i32> %832, i64 1
  %812 = sub i32 256, %811
  %813 = extractelement <2 x i64> %829, i64 0
  %814 = extractelement <2 x i64> %829, i64 1
  br label %871

815:                                              ; preds = %815, %803
  %816 = phi i1 [ true, %803 ], [ false, %815 ]
  %817 = phi i32 [ 0, %803 ], [ 1, %815 ]
  %818 = phi <2 x i64> [ zeroinitializer, %803 ], [ %829, %815 ]
  %819 = phi <2 x i32> [ zeroinitializer, %803 ], [ %832, %815 ]
  %820 = getelementptr inbounds nuw double, ptr addrspace(5) %371, i32 %817
  %821 = load double, ptr addrspace(5) %820, align 8
  %822 = fmul double %821, %806
  %823 = fadd double %822, -5.000000e-01
  %824 = fmul double %823, 2.560000e+02
  %825 = fadd double %824, 5.000000e-01
  %826 = call noundef double @llvm.floor.f64(double %825)
  %827 = fptosi double %826 to i64
  %828 = ashr i64 %827, 8
  %829 = insertelement <2 x i64> %818, i64 %828, i32 %817
  %830 = trunc i64 %827 to i32
  %831 = and i32 %830, 255
  %832 = insertelement <2 x i32> %819, i32 %831, i32 %817
  br i1 %816, label %815, label %807

833:                                              ; preds = %897
  %834 = fdiv double %898, 3.000000e+00
  %835 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 8
  %836 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 16
  %837 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 24
  %838 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 32
  %839 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 40
  %840 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 48
  %841 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 56
  %842 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 64
  %843 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 72
  %844 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 80
  %845 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 88
  %846 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 96
  %847 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 104
  %848 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 112
  %849 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 120
  %850 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 128
  %851 = getelementptr inbounds nuw i8, ptr addrspace(5) %10, i32 136
  %852 = load i64, ptr addrspace(5) %382, align 8
  %853 = load i32, ptr addrspace(5) %383, align 8
  %854 = getelementptr inbounds [3 x double], ptr addrspace(5) %10, i32 %853
  %855 = add nsw i64 %808, -1
  %856 = mul i64 %852, 6
  %857 = getelementptr inbounds nuw i8, ptr %795, i64 16
  %858 = getelementptr inbounds nuw i8, ptr %795, i64 8
  %859 = zext i8 %613 to i64
  %860 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %859
  %861 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %862 = load i8, ptr %861, align 4
  %863 = zext i8 %862 to i32
  %864 = icmp eq i8 %862, 0
  %865 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %866 = load i8, ptr %865, align 1
  %867 = trunc nuw i8 %866 to i1
  %868 = select i1 %867, double 2.550000e+02, double 1.000000e+00
  %869 = select i1 %867, double 1.000000e+00, double 2.550000e+02
  %870 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %901

871:                                              ; preds = %897, %807
  %promotealloca139 = phi <4 x double> [ zeroinitializer, %807 ], [ %promotealloca, %897 ]
  %872 = phi i32 [ 0, %807 ], [ %899, %897 ]
  %873 = phi double [ 0.000000e+00, %807 ], [ %898, %897 ]
  %874 = and i32 %872, 1
  %875 = icmp eq i32 %874, 0
  %876 = select i1 %875, i32 %810, i32 %809
  %877 = uitofp i32 %876 to double
  %878 = icmp samesign ult i32 %872, 2
  %879 = select i1 %878, i32 %812, i32 %811
  %880 = uitofp i32 %879 to double
  %881 = fmul double %880, %877
  %882 = insertelement <4 x double> %promotealloca139, double %881, i32 %872
  %883 = zext nneg i32 %874 to i64
  %884 = add nsw i64 %813, %883
  %885 = icmp slt i64 %884, 0
  %886 = icmp sge i64 %884, %808
  %887 = select i1 %885, i1 true, i1 %886
  br i1 %887, label %888, label %897

888:                                              ; preds = %871
  %889 = lshr i32 %872, 1
  %890 = zext nneg i32 %889 to i64
  %891 = add nsw i64 %814, %890
  %892 = icmp slt i64 %891, 0
  %893 = icmp sge i64 %891, %808
  %894 = select i1 %892, i1 true, i1 %893
  br i1 %894, label %895, label %897

895:                                              ; preds = %888
  %896 = insertelement <4 x double> %882, double -1.000000e+00, i32 %872
  br label %897

897:                                              ; preds = %895, %888, %871
  %promotealloca = phi <4 x double> [ %896, %895 ], [ %882, %888 ], [ %882, %871 ]
  %898 = phi double [ %881, %895 ], [ %873, %888 ], [ %873, %871 ]
  %899 = add nuw nsw i32 %872, 1
  %900 = icmp eq i32 %899, 4
  br i1 %900, label %833, label %871

901:                                              ; preds = %.loopexit179, %833
  %902 = phi i32 [ 0, %833 ], [ %1103, %.loopexit179 ]
  %903 = extractelement <4 x double> %promotealloca, i32 %902
  %904 = fcmp olt double %903, 0.000000e+00
  br i1 %904, label %.loopexit179, label %905

905:                                              ; preds = %901
  %906 = and i32 %902, 1
  %907 = zext nneg i32 %906 to i64
  %908 = add nsw i64 %813, %907
  %909 = lshr i32 %902, 1
  %910 = zext nneg i32 %909 to i64
  %911 = add nsw i64 %814, %910
  %912 = fadd double %834, %903
  %913 = icmp sgt i64 %908, -1
  br i1 %913, label %914, label %918

914:                                              ; preds = %905
  %915 = icmp samesign ult i64 %908, %808
  %916 = icmp ult i64 %911, %808
  %917 = and i1 %915, %916
  br i1 %917, label %993, label %918

918:                                              ; preds = %914, %905
  %919 = sitofp i64 %908 to double
  %920 = fmul double %919, 2.000000e+00
  %921 = fadd double %920, 1.000000e+00
  %922 = fdiv double %921, %806
  %923 = fadd double %922, -1.000000e+00
  %924 = sitofp i64 %911 to double
  %925 = fmul double %924, 2.000000e+00
  %926 = fadd double %925, 1.000000e+00
  %927 = fdiv double %926, %806
  %928 = fadd double %927, -1.000000e+00
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %10) #11
  store double 1.000000e+00, ptr addrspace(5) %10, align 8
  %929 = fneg double %928
  store double %929, ptr addrspace(5) %835, align 8
  %930 = fneg double %923
  store double %930, ptr addrspace(5) %836, align 8
  store double -1.000000e+00, ptr addrspace(5) %837, align 8
  store double %929, ptr addrspace(5) %838, align 8
  store double %923, ptr addrspace(5) %839, align 8
  store double %923, ptr addrspace(5) %840, align 8
  store double 1.000000e+00, ptr addrspace(5) %841, align 8
  store double %928, ptr addrspace(5) %842, align 8
  store double %923, ptr addrspace(5) %843, align 8
  store double -1.000000e+00, ptr addrspace(5) %844, align 8
  store double %929, ptr addrspace(5) %845, align 8
  store double %923, ptr addrspace(5) %846, align 8
  store double %929, ptr addrspace(5) %847, align 8
  store double 1.000000e+00, ptr addrspace(5) %848, align 8
  store double %930, ptr addrspace(5) %849, align 8
  store double %929, ptr addrspace(5) %850, align 8
  store double -1.000000e+00, ptr addrspace(5) %851, align 8
  br label %931

931:                                              ; preds = %931, %918
  %932 = phi <3 x double> [ zeroinitializer, %918 ], [ %936, %931 ]
  %933 = phi i32 [ 0, %918 ], [ %937, %931 ]
  %934 = getelementptr inbounds nuw double, ptr addrspace(5) %854, i32 %933
  %935 = load double, ptr addrspace(5) %934, align 8
  %936 = insertelement <3 x double> %932, double %935, i32 %933
  %937 = add nuw nsw i32 %933, 1
  %938 = icmp eq i32 %937, 3
  br i1 %938, label %939, label %931

939:                                              ; preds = %931
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %10) #11
  %940 = extractelement <3 x double> %936, i64 0
  %941 = extractelement <3 x double> %936, i64 1
  %942 = extractelement <3 x double> %936, i64 2
  %943 = call noundef double @llvm.fabs.f64(double %940)
  %944 = call noundef double @llvm.fabs.f64(double %941)
  %945 = call noundef double @llvm.fabs.f64(double %942)
  %946 = fcmp ult double %945, %943
  %947 = fcmp ult double %945, %944
  %948 = or i1 %946, %947
  br i1 %948, label %956, label %949

949:                                              ; preds = %939
  %950 = bitcast double %942 to i64
  %951 = icmp slt i64 %950, 0
  %952 = fneg double %940
  %953 = fneg double %941
  %954 = select i1 %951, i32 5, i32 4
  %955 = select i1 %951, double %952, double %940
  br label %972

956:                                              ; preds = %939
  %957 = fcmp ult double %944, %943
  br i1 %957, label %964, label %958

958:                                              ; preds = %956
  %959 = bitcast double %941 to i64
  %960 = icmp slt i64 %959, 0
  %961 = fneg double %942
  %962 = select i1 %960, i32 3, i32 2
  %963 = select i1 %960, double %961, double %942
  br label %972

964:                                              ; preds = %956
  %965 = bitcast double %940 to i64
  %966 = icmp slt i64 %965, 0
  %967 = fneg double %941
  %968 = fneg double %942
  %969 = lshr i64 %965, 63
  %970 = trunc nuw nsw i64 %969 to i32
  %971 = select i1 %966, double %942, double %968
  br label %972

972:                                              ; preds = %964, %958, %949
  %973 = phi i32 [ %954, %949 ], [ %962, %958 ], [ %970, %964 ]
  %974 = phi double [ %955, %949 ], [ %940, %958 ], [ %971, %964 ]
  %975 = phi double [ %953, %949 ], [ %963, %958 ], [ %967, %964 ]
  %976 = phi double [ %945, %949 ], [ %944, %958 ], [ %943, %964 ]
  %977 = fdiv double %974, %976
  %978 = fadd double %977, 1.000000e+00
  %979 = fmul double %978, 5.000000e-01
  %980 = fmul double %979, %806
  %981 = fptosi double %980 to i64
  %982 = icmp slt i64 %981, 0
  %983 = call i64 @llvm.smin.i64(i64 %855, i64 %981)
  %984 = select i1 %982, i64 0, i64 %983
  %985 = fdiv double %975, %976
  %986 = fadd double %985, 1.000000e+00
  %987 = fmul double %986, 5.000000e-01
  %988 = fmul double %987, %806
  %989 = fptosi double %988 to i64
  %990 = icmp slt i64 %989, 0
  %991 = call i64 @llvm.smin.i64(i64 %855, i64 %989)
  %992 = select i1 %990, i64 0, i64 %991
  br label %993

993:                                              ; preds = %972, %914
  %994 = phi i64 [ %911, %914 ], [ %992, %972 ]
  %995 = phi i64 [ %908, %914 ], [ %984, %972 ]
  %996 = phi i32 [ %853, %914 ], [ %973, %972 ]
  %997 = zext i32 %996 to i64
  %998 = add i64 %856, %997
  %999 = fcmp oeq double %912, 0.000000e+00
  br i1 %999, label %.loopexit179, label %1000

1000:                                             ; preds = %993
  %1001 = icmp eq i64 %995, -1
  %1002 = icmp eq i64 %994, -1
  %1003 = or i1 %1002, %1001
  %1004 = icmp eq i64 %998, -1
  %1005 = or i1 %1003, %1004
  br i1 %1005, label %1006, label %1026

1006:                                             ; preds = %1000
  switch i8 %613, label %1010 [
    i8 0, label %1007
    i8 1, label %1011
    i8 2, label %1008
    i8 3, label %1009
  ]

1007:                                             ; preds = %1006
  br label %1011

1008:                                             ; preds = %1006
  br label %1011

1009:                                             ; preds = %1006
  br label %1011

1010:                                             ; preds = %1006
  br label %1011

1011:                                             ; preds = %1010, %1009, %1008, %1007, %1006
  %1012 = phi double [ 1.000000e+00, %1010 ], [ %869, %1007 ], [ 3.276700e+04, %1009 ], [ 6.553500e+04, %1008 ], [ 1.270000e+02, %1006 ]
  br i1 %864, label %.loopexit179, label %1013

1013:                                             ; preds = %1011
  %1014 = fmul double %912, %1012
  br label %vector.ph515

vector.ph515:                                     ; preds = %vector.ph515, %1013
  %1015 = phi i32 [ 0, %1013 ], [ %1024, %vector.ph515 ]
  %1016 = zext nneg i32 %1015 to i64
  %1017 = getelementptr inbounds nuw i32, ptr %870, i64 %1016
  %1018 = load float, ptr %1017, align 4
  %1019 = fpext float %1018 to double
  %1020 = fmul double %1014, %1019
  %1021 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1015
  %1022 = load double, ptr addrspace(5) %1021, align 8
  %1023 = fadd double %1020, %1022
  store double %1023, ptr addrspace(5) %1021, align 8
  %1024 = add nuw nsw i32 %1015, 1
  %1025 = icmp eq i32 %1024, %863
  br i1 %1025, label %.loopexit179, label %vector.ph515

1026:                                             ; preds = %1000
  %1027 = load ptr, ptr %795, align 8
  %1028 = load i64, ptr %857, align 8
  %1029 = mul i64 %1028, %998
  %1030 = getelementptr inbounds nuw i8, ptr %1027, i64 %1029
  %1031 = load i64, ptr %858, align 8
  %1032 = mul i64 %1031, %994
  %1033 = getelementptr inbounds nuw i8, ptr %1030, i64 %1032
  %1034 = load i32, ptr addrspace(4) %860, align 4
  %1035 = mul i32 %1034, %863
  %1036 = zext i32 %1035 to i64
  %1037 = mul i64 %995, %1036
  %1038 = getelementptr inbounds nuw i8, ptr %1033, i64 %1037
  br i1 %864, label %.loopexit179, label %.preheader180

.preheader180:                                    ; preds = %1026, %1095
  %1039 = phi i32 [ %1101, %1095 ], [ 0, %1026 ]
  switch i8 %613, label %1095 [
    i8 7, label %vector.ph519
    i8 0, label %1044
    i8 1, label %1057
    i8 2, label %vector.ph523
    i8 3, label %vector.ph527
    i8 6, label %vector.ph531
  ]

vector.ph519:                                     ; preds = %.preheader180
  %1040 = shl nuw nsw i32 %1039, 2
  %1041 = zext nneg i32 %1040 to i64
  %1042 = getelementptr inbounds nuw i8, ptr %1038, i64 %1041
  %wide.load521646 = load float, ptr %1042, align 1
  %1043 = fpext float %wide.load521646 to double
  br label %1095

1044:                                             ; preds = %.preheader180
  %1045 = icmp samesign ult i32 %1039, 3
  %1046 = select i1 %867, i1 %1045, i1 false
  %1047 = zext nneg i32 %1039 to i64
  %1048 = getelementptr inbounds nuw i8, ptr %1038, i64 %1047
  %1049 = load i8, ptr %1048, align 1
  br i1 %1046, label %1050, label %1054

1050:                                             ; preds = %1044
  %1051 = zext i8 %1049 to i64
  %1052 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %1051
  %1053 = load double, ptr addrspace(4) %1052, align 8
  br label %1095

1054:                                             ; preds = %1044
  %1055 = uitofp i8 %1049 to double
  %1056 = fdiv double %1055, %868
  br label %1095

1057:                                             ; preds = %.preheader180
  %1058 = zext nneg i32 %1039 to i64
  %1059 = getelementptr inbounds nuw i8, ptr %1038, i64 %1058
  %1060 = load i8, ptr %1059, align 1
  %1061 = call i8 @llvm.smax.i8(i8 %1060, i8 -127)
  %1062 = sitofp i8 %1061 to double
  br label %1095

vector.ph523:                                     ; preds = %.preheader180
  %1063 = shl nuw nsw i32 %1039, 1
  %1064 = zext nneg i32 %1063 to i64
  %1065 = getelementptr inbounds nuw i8, ptr %1038, i64 %1064
  %wide.load525645 = load i16, ptr %1065, align 1
  %1066 = uitofp i16 %wide.load525645 to double
  br label %1095

vector.ph527:                                     ; preds = %.preheader180
  %1067 = shl nuw nsw i32 %1039, 1
  %1068 = zext nneg i32 %1067 to i64
  %1069 = getelementptr inbounds nuw i8, ptr %1038, i64 %1068
  %wide.load529644 = load i16, ptr %1069, align 1
  %1070 = call i16 @llvm.smax.i16(i16 %wide.load529644, i16 -32767)
  %1071 = sitofp i16 %1070 to double
  br label %1095

vector.ph531:                                     ; preds = %.preheader180
  %1072 = shl nuw nsw i32 %1039, 1
  %1073 = zext nneg i32 %1072 to i64
  %1074 = getelementptr inbounds nuw i8, ptr %1038, i64 %1073
  %wide.load533643 = load i16, ptr %1074, align 1
  %1075 = zext i16 %wide.load533643 to i32
  %1076 = lshr i32 %1075, 10
  %1077 = and i32 %1076, 31
  %1078 = and i32 %1075, 1023
  %1079 = shl nuw nsw i32 %1077, 23
  %1080 = add nuw nsw i32 %1079, 939524096
  %1081 = shl nuw nsw i32 %1078, 13
  %1082 = icmp eq i32 %1077, 31
  %1083 = select i1 %1082, i32 2139095040, i32 %1080
  %1084 = or disjoint i32 %1083, %1081
  %1085 = icmp eq i32 %1077, 0
  %1086 = uitofp nneg i32 %1078 to float
  %1087 = fmul float %1086, 0x3E70000000000000
  %1088 = bitcast float %1087 to i32
  %1089 = select i1 %1085, i32 %1088, i32 %1084
  %1090 = sext i16 %wide.load533643 to i32
  %1091 = and i32 %1090, -2147483648
  %1092 = or disjoint i32 %1089, %1091
  %1093 = bitcast i32 %1092 to float
  %1094 = fpext float %1093 to double
  br label %1095

1095:                                             ; preds = %vector.ph531, %vector.ph527, %vector.ph523, %1057, %1054, %1050, %vector.ph519, %.preheader180
  %1096 = phi double [ %1056, %1054 ], [ %1043, %vector.ph519 ], [ %1094, %vector.ph531 ], [ %1062, %1057 ], [ %1066, %vector.ph523 ], [ %1071, %vector.ph527 ], [ %1053, %1050 ], [ 0.000000e+00, %.preheader180 ]
  %1097 = fmul double %912, %1096
  %1098 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1039
  %1099 = load double, ptr addrspace(5) %1098, align 8
  %1100 = fadd double %1099, %1097
  store double %1100, ptr addrspace(5) %1098, align 8
  %1101 = add nuw nsw i32 %1039, 1
  %1102 = icmp eq i32 %1101, %863
  br i1 %1102, label %.loopexit179, label %.preheader180

.loopexit179:                                     ; preds = %1095, %vector.ph515, %1026, %1011, %993, %901
  %1103 = add nuw nsw i32 %902, 1
  %1104 = icmp eq i32 %1103, 4
  br i1 %1104, label %.loopexit182, label %901

1105:                                             ; preds = %790
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %11) #11
  store i64 0, ptr addrspace(5) %11, align 8
  %1106 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 8
  store i64 0, ptr addrspace(5) %1106, align 8
  %1107 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 16
  store i32 0, ptr addrspace(5) %1107, align 8
  %1108 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 24
  store i64 0, ptr addrspace(5) %1108, align 8
  %1109 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 32
  store i64 0, ptr addrspace(5) %1109, align 8
  %1110 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 40
  store i32 0, ptr addrspace(5) %1110, align 8
  %1111 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 48
  store i64 0, ptr addrspace(5) %1111, align 8
  %1112 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 56
  store i64 0, ptr addrspace(5) %1112, align 8
  %1113 = getelementptr inbounds nuw i8, ptr addrspace(5) %11, i32 64
  store i32 0, ptr addrspace(5) %1113, align 8
  %1114 = icmp eq i32 %559, 0
  br i1 %1114, label %.loopexit178, label %1115

1115:                                             ; preds = %1105
  %1116 = getelementptr inbounds nuw i8, ptr %0, i64 14
  %1117 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %1118 = load i8, ptr %1117, align 1
  %1119 = or i8 %1118, %341
  %1120 = icmp eq i8 %1119, 0
  br label %1139

.loopexit178:                                     ; preds = %1256, %1105
  %1121 = icmp eq i32 %559, 3
  %1122 = load i64, ptr addrspace(5) %381, align 8
  %1123 = select i1 %1121, i64 0, i64 %1122
  %1124 = insertelement <3 x i64> <i64 0, i64 0, i64 poison>, i64 %1123, i64 2
  %1125 = getelementptr inbounds nuw i8, ptr %795, i64 16
  %1126 = getelementptr inbounds nuw i8, ptr %795, i64 8
  %1127 = zext i8 %613 to i64
  %1128 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %1127
  %1129 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %1130 = load i8, ptr %1129, align 4
  %1131 = zext i8 %1130 to i32
  %1132 = icmp eq i8 %1130, 0
  %1133 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %1134 = load i8, ptr %1133, align 1
  %1135 = trunc nuw i8 %1134 to i1
  %1136 = select i1 %1135, double 2.550000e+02, double 1.000000e+00
  %1137 = select i1 %1135, double 1.000000e+00, double 2.550000e+02
  %1138 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %1266

1139:                                             ; preds = %1256, %1115
  %1140 = phi i32 [ 0, %1115 ], [ %1263, %1256 ]
  %1141 = zext i32 %1140 to i64
  %1142 = getelementptr inbounds nuw i8, ptr %1116, i64 %1141
  %1143 = load i8, ptr %1142, align 1
  %1144 = getelementptr inbounds double, ptr addrspace(5) %371, i32 %1140
  %1145 = load double, ptr addrspace(5) %1144, align 8
  %1146 = getelementptr inbounds i32, ptr addrspace(5) %374, i32 %1140
  %1147 = load i32, ptr addrspace(5) %1146, align 4
  %1148 = icmp eq i32 %1140, 1
  %1149 = select i1 %1148, i64 28, i64 32
  %1150 = icmp eq i32 %1140, 0
  %1151 = select i1 %1150, i64 24, i64 %1149
  %1152 = getelementptr inbounds nuw i8, ptr %795, i64 %1151
  %1153 = load i32, ptr %1152, align 4
  %1154 = zext i32 %1153 to i64
  %1155 = and i8 %1143, -3
  %1156 = or i8 %1155, %1119
  %1157 = icmp eq i8 %1156, 0
  %1158 = select i1 %1157, i8 1, i8 %1143
  %1159 = uitofp i32 %1153 to double
  %1160 = fmul double %1145, %1159
  %1161 = select i1 %1120, double %1145, double %1160
  %1162 = sitofp i32 %1147 to double
  %1163 = fadd double %1161, %1162
  %1164 = and i8 %1158, -3
  %1165 = icmp eq i8 %1164, 1
  br i1 %1165, label %1166, label %1171

1166:                                             ; preds = %1139
  %1167 = fcmp olt double %1163, -1.000000e+09
  %1168 = fcmp ogt double %1163, 1.000000e+09
  %1169 = select i1 %1168, double 1.000000e+09, double %1163
  %1170 = select i1 %1167, double -1.000000e+09, double %1169
  br label %1207

1171:                                             ; preds = %1139
  %1172 = call double @llvm.fabs.f64(double %1163)
  %1173 = fcmp ueq double %1172, 0x7FF0000000000000
  br i1 %1173, label %1207, label %1174

1174:                                             ; preds = %1171
  %1175 = icmp eq i8 %1158, 2
  %1176 = zext i1 %1175 to i64
  %1177 = shl nuw nsw i64 %1154, %1176
  %1178 = uitofp nneg i64 %1177 to double
  %1179 = fcmp ult double %1172, %1178
  br i1 %1179, label %.loopexit177, label %.preheader176

.preheader176:                                    ; preds = %1174, %.preheader176
  %1180 = phi double [ %1187, %.preheader176 ], [ %1172, %1174 ]
  %1181 = fdiv double %1180, %1178
  %1182 = fmul double %1181, 0x3FEFFFFFFFFFFFFE
  %1183 = call double @llvm.trunc.f64(double %1182)
  %1184 = fcmp olt double %1183, 1.000000e+00
  %1185 = fneg double %1183
  %1186 = select i1 %1184, double -1.000000e+00, double %1185
  %1187 = call double @llvm.fma.f64(double %1186, double %1178, double %1180)
  %1188 = fcmp ult double %1187, %1178
  br i1 %1188, label %.loopexit177, label %.preheader176

.loopexit177:                                     ; preds = %.preheader176, %1174
  %1189 = phi double [ %1172, %1174 ], [ %1187, %.preheader176 ]
  %1190 = fcmp olt double %1163, 0.000000e+00
  %1191 = fneg double %1189
  %1192 = select i1 %1190, double %1191, double %1189
  %1193 = fcmp olt double %1192, 0.000000e+00
  %1194 = fadd double %1192, %1178
  %1195 = select i1 %1193, double %1194, double %1192
  %1196 = icmp ne i8 %1158, 0
  %1197 = fcmp ult double %1195, %1178
  %1198 = or i1 %1196, %1197
  %1199 = bitcast double %1178 to i64
  %1200 = add nsw i64 %1199, -1
  %1201 = bitcast i64 %1200 to double
  %1202 = select i1 %1198, double %1195, double %1201
  %1203 = fcmp oge double %1202, %1159
  %1204 = select i1 %1175, i1 %1203, i1 false
  %1205 = fsub double %1178, %1202
  %1206 = select i1 %1204, double %1205, double %1202
  br label %1207

1207:                                             ; preds = %.loopexit177, %1171, %1166
  %1208 = phi double [ %1170, %1166 ], [ %1206, %.loopexit177 ], [ 0.000000e+00, %1171 ]
  br i1 %776, label %1209, label %1222

1209:                                             ; preds = %1207
  %1210 = call noundef double @llvm.floor.f64(double %1208)
  %1211 = fptosi double %1210 to i64
  %1212 = icmp ult i64 %1211, %1154
  br i1 %1212, label %1256, label %1213

1213:                                             ; preds = %1209
  switch i8 %1158, label %1256 [
    i8 0, label %1214
    i8 2, label %1218
    i8 1, label %1218
  ]

1214:                                             ; preds = %1213
  %1215 = srem i64 %1211, %1154
  %1216 = add nsw i64 %1215, %1154
  %1217 = srem i64 %1216, %1154
  br label %1256

1218:                                             ; preds = %1213, %1213
  %1219 = icmp slt i64 %1211, 0
  %1220 = add nsw i64 %1154, -1
  %1221 = select i1 %1219, i64 0, i64 %1220
  br label %1256

1222:                                             ; preds = %1207
  %1223 = fadd double %1208, -5.000000e-01
  %1224 = fmul double %1223, 2.560000e+02
  %1225 = fadd double %1224, 5.000000e-01
  %1226 = call noundef double @llvm.floor.f64(double %1225)
  %1227 = fptosi double %1226 to i64
  %1228 = ashr i64 %1227, 8
  %1229 = icmp ult i64 %1228, %1154
  br i1 %1229, label %1239, label %1230

1230:                                             ; preds = %1222
  switch i8 %1158, label %1239 [
    i8 0, label %1231
    i8 2, label %1235
    i8 1, label %1235
  ]

1231:                                             ; preds = %1230
  %1232 = srem i64 %1228, %1154
  %1233 = add nsw i64 %1232, %1154
  %1234 = srem i64 %1233, %1154
  br label %1239

1235:                                             ; preds = %1230, %1230
  %1236 = icmp slt i64 %1228, 0
  %1237 = add nsw i64 %1154, -1
  %1238 = select i1 %1236, i64 0, i64 %1237
  br label %1239

1239:                                             ; preds = %1235, %1231, %1230, %1222
  %1240 = phi i64 [ %1238, %1235 ], [ %1228, %1222 ], [ %1234, %1231 ], [ -1, %1230 ]
  %1241 = add nsw i64 %1228, 1
  %1242 = icmp ult i64 %1241, %1154
  br i1 %1242, label %1252, label %1243

1243:                                             ; preds = %1239
  switch i8 %1158, label %1252 [
    i8 0, label %1244
    i8 2, label %1248
    i8 1, label %1248
  ]

1244:                                             ; preds = %1243
  %1245 = srem i64 %1241, %1154
  %1246 = add nsw i64 %1245, %1154
  %1247 = srem i64 %1246, %1154
  br label %1252

1248:                                             ; preds = %1243, %1243
  %1249 = icmp slt i64 %1228, -1
  %1250 = add nsw i64 %1154, -1
  %1251 = select i1 %1249, i64 0, i64 %1250
  br label %1252

1252:                                             ; preds = %1248, %1244, %1243, %1239
  %1253 = phi i64 [ %1251, %1248 ], [ %1241, %1239 ], [ %1247, %1244 ], [ -1, %1243 ]
  %1254 = trunc i64 %1227 to i32
  %1255 = and i32 %1254, 255
  br label %1256

1256:                                             ; preds = %1252, %1218, %1214, %1213, %1209
  %1257 = phi i64 [ %1240, %1252 ], [ %1221, %1218 ], [ %1211, %1209 ], [ %1217, %1214 ], [ -1, %1213 ]
  %1258 = phi i64 [ %1253, %1252 ], [ 0, %1218 ], [ 0, %1209 ], [ 0, %1214 ], [ 0, %1213 ]
  %1259 = phi i32 [ %1255, %1252 ], [ 0, %1218 ], [ 0, %1209 ], [ 0, %1214 ], [ 0, %1213 ]
  %1260 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %11, i32 %1140
  store i64 %1257, ptr addrspace(5) %1260, align 8
  %1261 = getelementptr inbounds nuw i8, ptr addrspace(5) %1260, i32 8
  store i64 %1258, ptr addrspace(5) %1261, align 8
  %1262 = getelementptr inbounds nuw i8, ptr addrspace(5) %1260, i32 16
  store i32 %1259, ptr addrspace(5) %1262, align 8
  %1263 = add nuw i32 %1140, 1
  %1264 = icmp eq i32 %1263, %559
  br i1 %1264, label %.loopexit178, label %1139

1265:                                             ; preds = %.loopexit171
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %11) #11
  br label %.loopexit182

1266:                                             ; preds = %.loopexit171, %.loopexit178
  %1267 = phi i32 [ 0, %.loopexit178 ], [ %1377, %.loopexit171 ]
  br i1 %1114, label %.loopexit175, label %.preheader174

.loopexit175:                                     ; preds = %1397, %1266
  %1268 = phi <3 x i64> [ %1124, %1266 ], [ %1389, %1397 ]
  %1269 = phi double [ 1.000000e+00, %1266 ], [ %1398, %1397 ]
  %1270 = extractelement <3 x i64> %1268, i64 0
  %1271 = extractelement <3 x i64> %1268, i64 1
  %1272 = extractelement <3 x i64> %1268, i64 2
  %1273 = fcmp oeq double %1269, 0.000000e+00
  br i1 %1273, label %.loopexit171, label %1274

1274:                                             ; preds = %.loopexit175
  %1275 = icmp eq i64 %1270, -1
  %1276 = icmp eq i64 %1271, -1
  %1277 = or i1 %1275, %1276
  %1278 = icmp eq i64 %1272, -1
  %1279 = or i1 %1278, %1277
  br i1 %1279, label %1280, label %1300

1280:                                             ; preds = %1274
  switch i8 %613, label %1284 [
    i8 0, label %1281
    i8 1, label %1285
    i8 2, label %1282
    i8 3, label %1283
  ]

1281:                                             ; preds = %1280
  br label %1285

1282:                                             ; preds = %1280
  br label %1285

1283:                                             ; preds = %1280
  br label %1285

1284:                                             ; preds = %1280
  br label %1285

1285:                                             ; preds = %1284, %1283, %1282, %1281, %1280
  %1286 = phi double [ 1.000000e+00, %1284 ], [ %1137, %1281 ], [ 3.276700e+04, %1283 ], [ 6.553500e+04, %1282 ], [ 1.270000e+02, %1280 ]
  br i1 %1132, label %.loopexit171, label %1287

1287:                                             ; preds = %1285
  %1288 = fmul double %1269, %1286
  br label %vector.ph535

vector.ph535:                                     ; preds = %vector.ph535, %1287
  %1289 = phi i32 [ 0, %1287 ], [ %1298, %vector.ph535 ]
  %1290 = zext nneg i32 %1289 to i64
  %1291 = getelementptr inbounds nuw i32, ptr %1138, i64 %1290
  %1292 = load float, ptr %1291, align 4
  %1293 = fpext float %1292 to double
  %1294 = fmul double %1288, %1293
  %1295 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1289
  %1296 = load double, ptr addrspace(5) %1295, align 8
  %1297 = fadd double %1294, %1296
  store double %1297, ptr addrspace(5) %1295, align 8
  %1298 = add nuw nsw i32 %1289, 1
  %1299 = icmp eq i32 %1298, %1131
  br i1 %1299, label %.loopexit171, label %vector.ph535

1300:                                             ; preds = %1274
  %1301 = load ptr, ptr %795, align 8
  %1302 = load i64, ptr %1125, align 8
  %1303 = mul i64 %1302, %1272
  %1304 = getelementptr inbounds nuw i8, ptr %1301, i64 %1303
  %1305 = load i64, ptr %1126, align 8
  %1306 = mul i64 %1305, %1271
  %1307 = getelementptr inbounds nuw i8, ptr %1304, i64 %1306
  %1308 = load i32, ptr addrspace(4) %1128, align 4
  %1309 = mul i32 %1308, %1131
  %1310 = zext i32 %1309 to i64
  %1311 = mul i64 %1270, %1310
  %1312 = getelementptr inbounds nuw i8, ptr %1307, i64 %1311
  br i1 %1132, label %.loopexit171, label %.preheader172

.preheader172:                                    ; preds = %1300, %1369
  %1313 = phi i32 [ %1375, %1369 ], [ 0, %1300 ]
  switch i8 %613, label %1369 [
    i8 7, label %vector.ph539
    i8 0, label %1318
    i8 1, label %1331
    i8 2, label %vector.ph543
    i8 3, label %vector.ph547
    i8 6, label %vector.ph551
  ]

vector.ph539:                                     ; preds = %.preheader172
  %1314 = shl nuw nsw i32 %1313, 2
  %1315 = zext nneg i32 %1314 to i64
  %1316 = getelementptr inbounds nuw i8, ptr %1312, i64 %1315
  %wide.load541650 = load float, ptr %1316, align 1
  %1317 = fpext float %wide.load541650 to double
  br label %1369

1318:                                             ; preds = %.preheader172
  %1319 = icmp samesign ult i32 %1313, 3
  %1320 = select i1 %1135, i1 %1319, i1 false
  %1321 = zext nneg i32 %1313 to i64
  %1322 = getelementptr inbounds nuw i8, ptr %1312, i64 %1321
  %1323 = load i8, ptr %1322, align 1
  br i1 %1320, label %1324, label %1328

1324:                                             ; preds = %1318
  %1325 = zext i8 %1323 to i64
  %1326 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %1325
  %1327 = load double, ptr addrspace(4) %1326, align 8
  br label %1369

1328:                                             ; preds = %1318
  %1329 = uitofp i8 %1323 to double
  %1330 = fdiv double %1329, %1136
  br label %1369

1331:                                             ; preds = %.preheader172
  %1332 = zext nneg i32 %1313 to i64
  %1333 = getelementptr inbounds nuw i8, ptr %1312, i64 %1332
  %1334 = load i8, ptr %1333, align 1
  %1335 = call i8 @llvm.smax.i8(i8 %1334, i8 -127)
  %1336 = sitofp i8 %1335 to double
  br label %1369

vector.ph543:                                     ; preds = %.preheader172
  %1337 = shl nuw nsw i32 %1313, 1
  %1338 = zext nneg i32 %1337 to i64
  %1339 = getelementptr inbounds nuw i8, ptr %1312, i64 %1338
  %wide.load545649 = load i16, ptr %1339, align 1
  %1340 = uitofp i16 %wide.load545649 to double
  br label %1369

vector.ph547:                                     ; preds = %.preheader172
  %1341 = shl nuw nsw i32 %1313, 1
  %1342 = zext nneg i32 %1341 to i64
  %1343 = getelementptr inbounds nuw i8, ptr %1312, i64 %1342
  %wide.load549648 = load i16, ptr %1343, align 1
  %1344 = call i16 @llvm.smax.i16(i16 %wide.load549648, i16 -32767)
  %1345 = sitofp i16 %1344 to double
  br label %1369

vector.ph551:                                     ; preds = %.preheader172
  %1346 = shl nuw nsw i32 %1313, 1
  %1347 = zext nneg i32 %1346 to i64
  %1348 = getelementptr inbounds nuw i8, ptr %1312, i64 %1347
  %wide.load553647 = load i16, ptr %1348, align 1
  %1349 = zext i16 %wide.load553647 to i32
  %1350 = lshr i32 %1349, 10
  %1351 = and i32 %1350, 31
  %1352 = and i32 %1349, 1023
  %1353 = shl nuw nsw i32 %1351, 23
  %1354 = add nuw nsw i32 %1353, 939524096
  %1355 = shl nuw nsw i32 %1352, 13
  %1356 = icmp eq i32 %1351, 31
  %1357 = select i1 %1356, i32 2139095040, i32 %1354
  %1358 = or disjoint i32 %1357, %1355
  %1359 = icmp eq i32 %1351, 0
  %1360 = uitofp nneg i32 %1352 to float
  %1361 = fmul float %1360, 0x3E70000000000000
  %1362 = bitcast float %1361 to i32
  %1363 = select i1 %1359, i32 %1362, i32 %1358
  %1364 = sext i16 %wide.load553647 to i32
  %1365 = and i32 %1364, -2147483648
  %1366 = or disjoint i32 %1363, %1365
  %1367 = bitcast i32 %1366 to float
  %1368 = fpext float %1367 to double
  br label %1369

1369:                                             ; preds = %vector.ph551, %vector.ph547, %vector.ph543, %1331, %1328, %1324, %vector.ph539, %.preheader172
  %1370 = phi double [ %1330, %1328 ], [ %1317, %vector.ph539 ], [ %1368, %vector.ph551 ], [ %1336, %1331 ], [ %1340, %vector.ph543 ], [ %1345, %vector.ph547 ], [ %1327, %1324 ], [ 0.000000e+00, %.preheader172 ]
  %1371 = fmul double %1269, %1370
  %1372 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1313
  %1373 = load double, ptr addrspace(5) %1372, align 8
  %1374 = fadd double %1373, %1371
  store double %1374, ptr addrspace(5) %1372, align 8
  %1375 = add nuw nsw i32 %1313, 1
  %1376 = icmp eq i32 %1375, %1131
  br i1 %1376, label %.loopexit171, label %.preheader172

.loopexit171:                                     ; preds = %1369, %vector.ph535, %1300, %1285, %.loopexit175
  %1377 = add nuw i32 %1267, 1
  %1378 = lshr i32 %1377, %559
  %1379 = icmp ne i32 %1378, 0
  %1380 = select i1 %776, i1 true, i1 %1379
  br i1 %1380, label %1265, label %1266

.preheader174:                                    ; preds = %1266, %1397
  %1381 = phi i32 [ %1399, %1397 ], [ 0, %1266 ]
  %1382 = phi double [ %1398, %1397 ], [ 1.000000e+00, %1266 ]
  %1383 = phi <3 x i64> [ %1389, %1397 ], [ %1124, %1266 ]
  %1384 = shl nuw i32 1, %1381
  %1385 = and i32 %1384, %1267
  %1386 = icmp eq i32 %1385, 0
  %1387 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %11, i32 %1381
  %.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx = select i1 %1386, i32 0, i32 8
  %.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel = getelementptr inbounds nuw i8, ptr addrspace(5) %1387, i32 %.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx
  %1388 = load i64, ptr addrspace(5) %.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel, align 8
  %1389 = insertelement <3 x i64> %1383, i64 %1388, i32 %1381
  br i1 %776, label %1397, label %1390

1390:                                             ; preds = %.preheader174
  %1391 = getelementptr inbounds nuw i8, ptr addrspace(5) %1387, i32 16
  %1392 = load i32, ptr addrspace(5) %1391, align 8
  %1393 = sub i32 256, %1392
  %1394 = select i1 %1386, i32 %1393, i32 %1392
  %1395 = uitofp i32 %1394 to double
  %1396 = fmul double %1382, %1395
  br label %1397

1397:                                             ; preds = %1390, %.preheader174
  %1398 = phi double [ %1382, %.preheader174 ], [ %1396, %1390 ]
  %1399 = add nuw i32 %1381, 1
  %1400 = icmp eq i32 %1399, %559
  br i1 %1400, label %.loopexit175, label %.preheader174

1401:                                             ; preds = %787
  %1402 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %1403 = zext nneg i32 %780 to i64
  %1404 = getelementptr inbounds nuw %"struct.aw::TextureLevel", ptr %1402, i64 %1403
  %1405 = sub nuw nsw i32 256, %781
  %1406 = uitofp nneg i32 %1405 to double
  %1407 = trunc nuw i8 %341 to i1
  %1408 = getelementptr inbounds nuw i8, ptr %0, i64 10
  %1409 = load i8, ptr %1408, align 2
  %1410 = trunc nuw i8 %1409 to i1
  %1411 = select i1 %1407, i1 %1410, i1 false
  %1412 = xor i1 %1411, true
  %1413 = select i1 %1412, i1 true, i1 %776
  br i1 %1413, label %1719, label %1414

1414:                                             ; preds = %1401
  %1415 = getelementptr inbounds nuw i8, ptr %1404, i64 24
  %1416 = load i32, ptr %1415, align 8
  %1417 = uitofp i32 %1416 to double
  br label %1426

1418:                                             ; preds = %1426
  %1419 = zext i32 %1416 to i64
  %1420 = extractelement <2 x i32> %1443, i64 0
  %1421 = sub i32 256, %1420
  %1422 = extractelement <2 x i32> %1443, i64 1
  %1423 = sub i32 256, %1422
  %1424 = extractelement <2 x i64> %1440, i64 0
  %1425 = extractelement <2 x i64> %1440, i64 1
  br label %1482

1426:                                             ; preds = %1426, %1414
  %1427 = phi i1 [ true, %1414 ], [ false, %1426 ]
  %1428 = phi i32 [ 0, %1414 ], [ 1, %1426 ]
  %1429 = phi <2 x i64> [ zeroinitializer, %1414 ], [ %1440, %1426 ]
  %1430 = phi <2 x i32> [ zeroinitializer, %1414 ], [ %1443, %1426 ]
  %1431 = getelementptr inbounds nuw double, ptr addrspace(5) %371, i32 %1428
  %1432 = load double, ptr addrspace(5) %1431, align 8
  %1433 = fmul double %1432, %1417
  %1434 = fadd double %1433, -5.000000e-01
  %1435 = fmul double %1434, 2.560000e+02
  %1436 = fadd double %1435, 5.000000e-01
  %1437 = call noundef double @llvm.floor.f64(double %1436)
  %1438 = fptosi double %1437 to i64
  %1439 = ashr i64 %1438, 8
  %1440 = insertelement <2 x i64> %1429, i64 %1439, i32 %1428
  %1441 = trunc i64 %1438 to i32
  %1442 = and i32 %1441, 255
  %1443 = insertelement <2 x i32> %1430, i32 %1442, i32 %1428
  br i1 %1427, label %1426, label %1418

1444:                                             ; preds = %1510
  %1445 = fdiv double %1512, 3.000000e+00
  %1446 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 8
  %1447 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 16
  %1448 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 24
  %1449 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 32
  %1450 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 40
  %1451 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 48
  %1452 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 56
  %1453 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 64
  %1454 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 72
  %1455 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 80
  %1456 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 88
  %1457 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 96
  %1458 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 104
  %1459 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 112
  %1460 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 120
  %1461 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 128
  %1462 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 136
  %1463 = load i64, ptr addrspace(5) %382, align 8
  %1464 = load i32, ptr addrspace(5) %383, align 8
  %1465 = getelementptr inbounds [3 x double], ptr addrspace(5) %8, i32 %1464
  %1466 = add nsw i64 %1419, -1
  %1467 = mul i64 %1463, 6
  %1468 = getelementptr inbounds nuw i8, ptr %1404, i64 16
  %1469 = getelementptr inbounds nuw i8, ptr %1404, i64 8
  %1470 = zext i8 %613 to i64
  %1471 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %1470
  %1472 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %1473 = load i8, ptr %1472, align 4
  %1474 = zext i8 %1473 to i32
  %1475 = icmp eq i8 %1473, 0
  %1476 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %1477 = load i8, ptr %1476, align 1
  %1478 = trunc nuw i8 %1477 to i1
  %1479 = select i1 %1478, double 2.550000e+02, double 1.000000e+00
  %1480 = select i1 %1478, double 1.000000e+00, double 2.550000e+02
  %1481 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %1515

1482:                                             ; preds = %1510, %1418
  %1483 = phi <4 x double> [ zeroinitializer, %1418 ], [ %1511, %1510 ]
  %1484 = phi i32 [ 0, %1418 ], [ %1513, %1510 ]
  %1485 = phi double [ 0.000000e+00, %1418 ], [ %1512, %1510 ]
  %1486 = and i32 %1484, 1
  %1487 = icmp eq i32 %1486, 0
  %1488 = select i1 %1487, i32 %1421, i32 %1420
  %1489 = uitofp i32 %1488 to double
  %1490 = fmul double %1406, %1489
  %1491 = icmp samesign ult i32 %1484, 2
  %1492 = select i1 %1491, i32 %1423, i32 %1422
  %1493 = uitofp i32 %1492 to double
  %1494 = fmul double %1490, %1493
  %1495 = insertelement <4 x double> %1483, double %1494, i32 %1484
  %1496 = zext nneg i32 %1486 to i64
  %1497 = add nsw i64 %1424, %1496
  %1498 = icmp slt i64 %1497, 0
  %1499 = icmp sge i64 %1497, %1419
  %1500 = select i1 %1498, i1 true, i1 %1499
  br i1 %1500, label %1501, label %1510

1501:                                             ; preds = %1482
  %1502 = lshr i32 %1484, 1
  %1503 = zext nneg i32 %1502 to i64
  %1504 = add nsw i64 %1425, %1503
  %1505 = icmp slt i64 %1504, 0
  %1506 = icmp sge i64 %1504, %1419
  %1507 = select i1 %1505, i1 true, i1 %1506
  br i1 %1507, label %1508, label %1510

1508:                                             ; preds = %1501
  %1509 = insertelement <4 x double> %1495, double -1.000000e+00, i32 %1484
  br label %1510

1510:                                             ; preds = %1508, %1501, %1482
  %1511 = phi <4 x double> [ %1509, %1508 ], [ %1495, %1501 ], [ %1495, %1482 ]
  %1512 = phi double [ %1494, %1508 ], [ %1485, %1501 ], [ %1485, %1482 ]
  %1513 = add nuw nsw i32 %1484, 1
  %1514 = icmp eq i32 %1513, 4
  br i1 %1514, label %1444, label %1482

1515:                                             ; preds = %.loopexit167, %1444
  %1516 = phi i32 [ 0, %1444 ], [ %1717, %.loopexit167 ]
  %1517 = extractelement <4 x double> %1511, i32 %1516
  %1518 = fcmp olt double %1517, 0.000000e+00
  br i1 %1518, label %.loopexit167, label %1519

1519:                                             ; preds = %1515
  %1520 = and i32 %1516, 1
  %1521 = zext nneg i32 %1520 to i64
  %1522 = add nsw i64 %1424, %1521
  %1523 = lshr i32 %1516, 1
  %1524 = zext nneg i32 %1523 to i64
  %1525 = add nsw i64 %1425, %1524
  %1526 = fadd double %1445, %1517
  %1527 = icmp sgt i64 %1522, -1
  br i1 %1527, label %1528, label %1532

1528:                                             ; preds = %1519
  %1529 = icmp samesign ult i64 %1522, %1419
  %1530 = icmp ult i64 %1525, %1419
  %1531 = and i1 %1529, %1530
  br i1 %1531, label %1607, label %1532

1532:                                             ; preds = %1528, %1519
  %1533 = sitofp i64 %1522 to double
  %1534 = fmul double %1533, 2.000000e+00
  %1535 = fadd double %1534, 1.000000e+00
  %1536 = fdiv double %1535, %1417
  %1537 = fadd double %1536, -1.000000e+00
  %1538 = sitofp i64 %1525 to double
  %1539 = fmul double %1538, 2.000000e+00
  %1540 = fadd double %1539, 1.000000e+00
  %1541 = fdiv double %1540, %1417
  %1542 = fadd double %1541, -1.000000e+00
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %8) #11
  store double 1.000000e+00, ptr addrspace(5) %8, align 8
  %1543 = fneg double %1542
  store double %1543, ptr addrspace(5) %1446, align 8
  %1544 = fneg double %1537
  store double %1544, ptr addrspace(5) %1447, align 8
  store double -1.000000e+00, ptr addrspace(5) %1448, align 8
  store double %1543, ptr addrspace(5) %1449, align 8
  store double %1537, ptr addrspace(5) %1450, align 8
  store double %1537, ptr addrspace(5) %1451, align 8
  store double 1.000000e+00, ptr addrspace(5) %1452, align 8
  store double %1542, ptr addrspace(5) %1453, align 8
  store double %1537, ptr addrspace(5) %1454, align 8
  store double -1.000000e+00, ptr addrspace(5) %1455, align 8
  store double %1543, ptr addrspace(5) %1456, align 8
  store double %1537, ptr addrspace(5) %1457, align 8
  store double %1543, ptr addrspace(5) %1458, align 8
  store double 1.000000e+00, ptr addrspace(5) %1459, align 8
  store double %1544, ptr addrspace(5) %1460, align 8
  store double %1543, ptr addrspace(5) %1461, align 8
  store double -1.000000e+00, ptr addrspace(5) %1462, align 8
  br label %1545

1545:                                             ; preds = %1545, %1532
  %1546 = phi <3 x double> [ zeroinitializer, %1532 ], [ %1550, %1545 ]
  %1547 = phi i32 [ 0, %1532 ], [ %1551, %1545 ]
  %1548 = getelementptr inbounds nuw double, ptr addrspace(5) %1465, i32 %1547
  %1549 = load double, ptr addrspace(5) %1548, align 8
  %1550 = insertelement <3 x double> %1546, double %1549, i32 %1547
  %1551 = add nuw nsw i32 %1547, 1
  %1552 = icmp eq i32 %1551, 3
  br i1 %1552, label %1553, label %1545

1553:                                             ; preds = %1545
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %8) #11
  %1554 = extractelement <3 x double> %1550, i64 0
  %1555 = extractelement <3 x double> %1550, i64 1
  %1556 = extractelement <3 x double> %1550, i64 2
  %1557 = call noundef double @llvm.fabs.f64(double %1554)
  %1558 = call noundef double @llvm.fabs.f64(double %1555)
  %1559 = call noundef double @llvm.fabs.f64(double %1556)
  %1560 = fcmp ult double %1559, %1557
  %1561 = fcmp ult double %1559, %1558
  %1562 = or i1 %1560, %1561
  br i1 %1562, label %1570, label %1563

1563:                                             ; preds = %1553
  %1564 = bitcast double %1556 to i64
  %1565 = icmp slt i64 %1564, 0
  %1566 = fneg double %1554
  %1567 = fneg double %1555
  %1568 = select i1 %1565, i32 5, i32 4
  %1569 = select i1 %1565, double %1566, double %1554
  br label %1586

1570:                                             ; preds = %1553
  %1571 = fcmp ult double %1558, %1557
  br i1 %1571, label %1578, label %1572

1572:                                             ; preds = %1570
  %1573 = bitcast double %1555 to i64
  %1574 = icmp slt i64 %1573, 0
  %1575 = fneg double %1556
  %1576 = select i1 %1574, i32 3, i32 2
  %1577 = select i1 %1574, double %1575, double %1556
  br label %1586

1578:                                             ; preds = %1570
  %1579 = bitcast double %1554 to i64
  %1580 = icmp slt i64 %1579, 0
  %1581 = fneg double %1555
  %1582 = fneg double %1556
  %1583 = lshr i64 %1579, 63
  %1584 = trunc nuw nsw i64 %1583 to i32
  %1585 = select i1 %1580, double %1556, double %1582
  br label %1586

1586:                                             ; preds = %1578, %1572, %1563
  %1587 = phi i32 [ %1568, %1563 ], [ %1576, %1572 ], [ %1584, %1578 ]
  %1588 = phi double [ %1569, %1563 ], [ %1554, %1572 ], [ %1585, %1578 ]
  %1589 = phi double [ %1567, %1563 ], [ %1577, %1572 ], [ %1581, %1578 ]
  %1590 = phi double [ %1559, %1563 ], [ %1558, %1572 ], [ %1557, %1578 ]
  %1591 = fdiv double %1588, %1590
  %1592 = fadd double %1591, 1.000000e+00
  %1593 = fmul double %1592, 5.000000e-01
  %1594 = fmul double %1593, %1417
  %1595 = fptosi double %1594 to i64
  %1596 = icmp slt i64 %1595, 0
  %1597 = call i64 @llvm.smin.i64(i64 %1466, i64 %1595)
  %1598 = select i1 %1596, i64 0, i64 %1597
  %1599 = fdiv double %1589, %1590
  %1600 = fadd double %1599, 1.000000e+00
  %1601 = fmul double %1600, 5.000000e-01
  %1602 = fmul double %1601, %1417
  %1603 = fptosi double %1602 to i64
  %1604 = icmp slt i64 %1603, 0
  %1605 = call i64 @llvm.smin.i64(i64 %1466, i64 %1603)
  %1606 = select i1 %1604, i64 0, i64 %1605
  br label %1607

1607:                                             ; preds = %1586, %1528
  %1608 = phi i64 [ %1525, %1528 ], [ %1606, %1586 ]
  %1609 = phi i64 [ %1522, %1528 ], [ %1598, %1586 ]
  %1610 = phi i32 [ %1464, %1528 ], [ %1587, %1586 ]
  %1611 = zext i32 %1610 to i64
  %1612 = add i64 %1467, %1611
  %1613 = fcmp oeq double %1526, 0.000000e+00
  br i1 %1613, label %.loopexit167, label %1614

1614:                                             ; preds = %1607
  %1615 = icmp eq i64 %1609, -1
  %1616 = icmp eq i64 %1608, -1
  %1617 = or i1 %1616, %1615
  %1618 = icmp eq i64 %1612, -1
  %1619 = or i1 %1617, %1618
  br i1 %1619, label %1620, label %1640

1620:                                             ; preds = %1614
  switch i8 %613, label %1624 [
    i8 0, label %1621
    i8 1, label %1625
    i8 2, label %1622
    i8 3, label %1623
  ]

1621:                                             ; preds = %1620
  br label %1625

1622:                                             ; preds = %1620
  br label %1625

1623:                                             ; preds = %1620
  br label %1625

1624:                                             ; preds = %1620
  br label %1625

1625:                                             ; preds = %1624, %1623, %1622, %1621, %1620
  %1626 = phi double [ 1.000000e+00, %1624 ], [ %1480, %1621 ], [ 3.276700e+04, %1623 ], [ 6.553500e+04, %1622 ], [ 1.270000e+02, %1620 ]
  br i1 %1475, label %.loopexit167, label %1627

1627:                                             ; preds = %1625
  %1628 = fmul double %1526, %1626
  br label %vector.ph555

vector.ph555:                                     ; preds = %vector.ph555, %1627
  %1629 = phi i32 [ 0, %1627 ], [ %1638, %vector.ph555 ]
  %1630 = zext nneg i32 %1629 to i64
  %1631 = getelementptr inbounds nuw i32, ptr %1481, i64 %1630
  %1632 = load float, ptr %1631, align 4
  %1633 = fpext float %1632 to double
  %1634 = fmul double %1628, %1633
  %1635 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1629
  %1636 = load double, ptr addrspace(5) %1635, align 8
  %1637 = fadd double %1634, %1636
  store double %1637, ptr addrspace(5) %1635, align 8
  %1638 = add nuw nsw i32 %1629, 1
  %1639 = icmp eq i32 %1638, %1474
  br i1 %1639, label %.loopexit167, label %vector.ph555

1640:                                             ; preds = %1614
  %1641 = load ptr, ptr %1404, align 8
  %1642 = load i64, ptr %1468, align 8
  %1643 = mul i64 %1642, %1612
  %1644 = getelementptr inbounds nuw i8, ptr %1641, i64 %1643
  %1645 = load i64, ptr %1469, align 8
  %1646 = mul i64 %1645, %1608
  %1647 = getelementptr inbounds nuw i8, ptr %1644, i64 %1646
  %1648 = load i32, ptr addrspace(4) %1471, align 4
  %1649 = mul i32 %1648, %1474
  %1650 = zext i32 %1649 to i64
  %1651 = mul i64 %1609, %1650
  %1652 = getelementptr inbounds nuw i8, ptr %1647, i64 %1651
  br i1 %1475, label %.loopexit167, label %.preheader168

.preheader168:                                    ; preds = %1640, %1709
  %1653 = phi i32 [ %1715, %1709 ], [ 0, %1640 ]
  switch i8 %613, label %1709 [
    i8 7, label %vector.ph559
    i8 0, label %1658
    i8 1, label %1671
    i8 2, label %vector.ph563
    i8 3, label %vector.ph567
    i8 6, label %vector.ph571
  ]

vector.ph559:                                     ; preds = %.preheader168
  %1654 = shl nuw nsw i32 %1653, 2
  %1655 = zext nneg i32 %1654 to i64
  %1656 = getelementptr inbounds nuw i8, ptr %1652, i64 %1655
  %wide.load561654 = load float, ptr %1656, align 1
  %1657 = fpext float %wide.load561654 to double
  br label %1709

1658:                                             ; preds = %.preheader168
  %1659 = icmp samesign ult i32 %1653, 3
  %1660 = select i1 %1478, i1 %1659, i1 false
  %1661 = zext nneg i32 %1653 to i64
  %1662 = getelementptr inbounds nuw i8, ptr %1652, i64 %1661
  %1663 = load i8, ptr %1662, align 1
  br i1 %1660, label %1664, label %1668

1664:                                             ; preds = %1658
  %1665 = zext i8 %1663 to i64
  %1666 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %1665
  %1667 = load double, ptr addrspace(4) %1666, align 8
  br label %1709

1668:                                             ; preds = %1658
  %1669 = uitofp i8 %1663 to double
  %1670 = fdiv double %1669, %1479
  br label %1709

1671:                                             ; preds = %.preheader168
  %1672 = zext nneg i32 %1653 to i64
  %1673 = getelementptr inbounds nuw i8, ptr %1652, i64 %1672
  %1674 = load i8, ptr %1673, align 1
  %1675 = call i8 @llvm.smax.i8(i8 %1674, i8 -127)
  %1676 = sitofp i8 %1675 to double
  br label %1709

vector.ph563:                                     ; preds = %.preheader168
  %1677 = shl nuw nsw i32 %1653, 1
  %1678 = zext nneg i32 %1677 to i64
  %1679 = getelementptr inbounds nuw i8, ptr %1652, i64 %1678
  %wide.load565653 = load i16, ptr %1679, align 1
  %1680 = uitofp i16 %wide.load565653 to double
  br label %1709

vector.ph567:                                     ; preds = %.preheader168
  %1681 = shl nuw nsw i32 %1653, 1
  %1682 = zext nneg i32 %1681 to i64
  %1683 = getelementptr inbounds nuw i8, ptr %1652, i64 %1682
  %wide.load569652 = load i16, ptr %1683, align 1
  %1684 = call i16 @llvm.smax.i16(i16 %wide.load569652, i16 -32767)
  %1685 = sitofp i16 %1684 to double
  br label %1709

vector.ph571:                                     ; preds = %.preheader168
  %1686 = shl nuw nsw i32 %1653, 1
  %1687 = zext nneg i32 %1686 to i64
  %1688 = getelementptr inbounds nuw i8, ptr %1652, i64 %1687
  %wide.load573651 = load i16, ptr %1688, align 1
  %1689 = zext i16 %wide.load573651 to i32
  %1690 = lshr i32 %1689, 10
  %1691 = and i32 %1690, 31
  %1692 = and i32 %1689, 1023
  %1693 = shl nuw nsw i32 %1691, 23
  %1694 = add nuw nsw i32 %1693, 939524096
  %1695 = shl nuw nsw i32 %1692, 13
  %1696 = icmp eq i32 %1691, 31
  %1697 = select i1 %1696, i32 2139095040, i32 %1694
  %1698 = or disjoint i32 %1697, %1695
  %1699 = icmp eq i32 %1691, 0
  %1700 = uitofp nneg i32 %1692 to float
  %1701 = fmul float %1700, 0x3E70000000000000
  %1702 = bitcast float %1701 to i32
  %1703 = select i1 %1699, i32 %1702, i32 %1698
  %1704 = sext i16 %wide.load573651 to i32
  %1705 = and i32 %1704, -2147483648
  %1706 = or disjoint i32 %1703, %1705
  %1707 = bitcast i32 %1706 to float
  %1708 = fpext float %1707 to double
  br label %1709

1709:                                             ; preds = %vector.ph571, %vector.ph567, %vector.ph563, %1671, %1668, %1664, %vector.ph559, %.preheader168
  %1710 = phi double [ %1670, %1668 ], [ %1657, %vector.ph559 ], [ %1708, %vector.ph571 ], [ %1676, %1671 ], [ %1680, %vector.ph563 ], [ %1685, %vector.ph567 ], [ %1667, %1664 ], [ 0.000000e+00, %.preheader168 ]
  %1711 = fmul double %1526, %1710
  %1712 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1653
  %1713 = load double, ptr addrspace(5) %1712, align 8
  %1714 = fadd double %1713, %1711
  store double %1714, ptr addrspace(5) %1712, align 8
  %1715 = add nuw nsw i32 %1653, 1
  %1716 = icmp eq i32 %1715, %1474
  br i1 %1716, label %.loopexit167, label %.preheader168

.loopexit167:                                     ; preds = %1709, %vector.ph555, %1640, %1625, %1607, %1515
  %1717 = add nuw nsw i32 %1516, 1
  %1718 = icmp eq i32 %1717, 4
  br i1 %1718, label %.loopexit170, label %1515

1719:                                             ; preds = %1401
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %9) #11
  store i64 0, ptr addrspace(5) %9, align 8
  %1720 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 8
  store i64 0, ptr addrspace(5) %1720, align 8
  %1721 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 16
  store i32 0, ptr addrspace(5) %1721, align 8
  %1722 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 24
  store i64 0, ptr addrspace(5) %1722, align 8
  %1723 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 32
  store i64 0, ptr addrspace(5) %1723, align 8
  %1724 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 40
  store i32 0, ptr addrspace(5) %1724, align 8
  %1725 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 48
  store i64 0, ptr addrspace(5) %1725, align 8
  %1726 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 56
  store i64 0, ptr addrspace(5) %1726, align 8
  %1727 = getelementptr inbounds nuw i8, ptr addrspace(5) %9, i32 64
  store i32 0, ptr addrspace(5) %1727, align 8
  %1728 = icmp eq i32 %559, 0
  br i1 %1728, label %.loopexit166, label %1729

1729:                                             ; preds = %1719
  %1730 = getelementptr inbounds nuw i8, ptr %0, i64 14
  %1731 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %1732 = load i8, ptr %1731, align 1
  %1733 = or i8 %1732, %341
  %1734 = icmp eq i8 %1733, 0
  br label %1753

.loopexit166:                                     ; preds = %1870, %1719
  %1735 = icmp eq i32 %559, 3
  %1736 = load i64, ptr addrspace(5) %381, align 8
  %1737 = select i1 %1735, i64 0, i64 %1736
  %1738 = insertelement <3 x i64> <i64 0, i64 0, i64 poison>, i64 %1737, i64 2
  %1739 = getelementptr inbounds nuw i8, ptr %1404, i64 16
  %1740 = getelementptr inbounds nuw i8, ptr %1404, i64 8
  %1741 = zext i8 %613 to i64
  %1742 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %1741
  %1743 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %1744 = load i8, ptr %1743, align 4
  %1745 = zext i8 %1744 to i32
  %1746 = icmp eq i8 %1744, 0
  %1747 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %1748 = load i8, ptr %1747, align 1
  %1749 = trunc nuw i8 %1748 to i1
  %1750 = select i1 %1749, double 2.550000e+02, double 1.000000e+00
  %1751 = select i1 %1749, double 1.000000e+00, double 2.550000e+02
  %1752 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %1880

1753:                                             ; preds = %1870, %1729
  %1754 = phi i32 [ 0, %1729 ], [ %1877, %1870 ]
  %1755 = zext i32 %1754 to i64
  %1756 = getelementptr inbounds nuw i8, ptr %1730, i64 %1755
  %1757 = load i8, ptr %1756, align 1
  %1758 = getelementptr inbounds double, ptr addrspace(5) %371, i32 %1754
  %1759 = load double, ptr addrspace(5) %1758, align 8
  %1760 = getelementptr inbounds i32, ptr addrspace(5) %374, i32 %1754
  %1761 = load i32, ptr addrspace(5) %1760, align 4
  %1762 = icmp eq i32 %1754, 1
  %1763 = select i1 %1762, i64 28, i64 32
  %1764 = icmp eq i32 %1754, 0
  %1765 = select i1 %1764, i64 24, i64 %1763
  %1766 = getelementptr inbounds nuw i8, ptr %1404, i64 %1765
  %1767 = load i32, ptr %1766, align 4
  %1768 = zext i32 %1767 to i64
  %1769 = and i8 %1757, -3
  %1770 = or i8 %1769, %1733
  %1771 = icmp eq i8 %1770, 0
  %1772 = select i1 %1771, i8 1, i8 %1757
  %1773 = uitofp i32 %1767 to double
  %1774 = fmul double %1759, %1773
  %1775 = select i1 %1734, double %1759, double %1774
  %1776 = sitofp i32 %1761 to double
  %1777 = fadd double %1775, %1776
  %1778 = and i8 %1772, -3
  %1779 = icmp eq i8 %1778, 1
  br i1 %1779, label %1780, label %1785

1780:                                             ; preds = %1753
  %1781 = fcmp olt double %1777, -1.000000e+09
  %1782 = fcmp ogt double %1777, 1.000000e+09
  %1783 = select i1 %1782, double 1.000000e+09, double %1777
  %1784 = select i1 %1781, double -1.000000e+09, double %1783
  br label %1821

1785:                                             ; preds = %1753
  %1786 = call double @llvm.fabs.f64(double %1777)
  %1787 = fcmp ueq double %1786, 0x7FF0000000000000
  br i1 %1787, label %1821, label %1788

1788:                                             ; preds = %1785
  %1789 = icmp eq i8 %1772, 2
  %1790 = zext i1 %1789 to i64
  %1791 = shl nuw nsw i64 %1768, %1790
  %1792 = uitofp nneg i64 %1791 to double
  %1793 = fcmp ult double %1786, %1792
  br i1 %1793, label %.loopexit165, label %.preheader164

.preheader164:                                    ; preds = %1788, %.preheader164
  %1794 = phi double [ %1801, %.preheader164 ], [ %1786, %1788 ]
  %1795 = fdiv double %1794, %1792
  %1796 = fmul double %1795, 0x3FEFFFFFFFFFFFFE
  %1797 = call double @llvm.trunc.f64(double %1796)
  %1798 = fcmp olt double %1797, 1.000000e+00
  %1799 = fneg double %1797
  %1800 = select i1 %1798, double -1.000000e+00, double %1799
  %1801 = call double @llvm.fma.f64(double %1800, double %1792, double %1794)
  %1802 = fcmp ult double %1801, %1792
  br i1 %1802, label %.loopexit165, label %.preheader164

.loopexit165:                                     ; preds = %.preheader164, %1788
  %1803 = phi double [ %1786, %1788 ], [ %1801, %.preheader164 ]
  %1804 = fcmp olt double %1777, 0.000000e+00
  %1805 = fneg double %1803
  %1806 = select i1 %1804, double %1805, double %1803
  %1807 = fcmp olt double %1806, 0.000000e+00
  %1808 = fadd double %1806, %1792
  %1809 = select i1 %1807, double %1808, double %1806
  %1810 = icmp ne i8 %1772, 0
  %1811 = fcmp ult double %1809, %1792
  %1812 = or i1 %1810, %1811
  %1813 = bitcast double %1792 to i64
  %1814 = add nsw i64 %1813, -1
  %1815 = bitcast i64 %1814 to double
  %1816 = select i1 %1812, double %1809, double %1815
  %1817 = fcmp oge double %1816, %1773
  %1818 = select i1 %1789, i1 %1817, i1 false
  %1819 = fsub double %1792, %1816
  %1820 = select i1 %1818, double %1819, double %1816
  br label %1821

1821:                                             ; preds = %.loopexit165, %1785, %1780
  %1822 = phi double [ %1784, %1780 ], [ %1820, %.loopexit165 ], [ 0.000000e+00, %1785 ]
  br i1 %776, label %1823, label %1836

1823:                                             ; preds = %1821
  %1824 = call noundef double @llvm.floor.f64(double %1822)
  %1825 = fptosi double %1824 to i64
  %1826 = icmp ult i64 %1825, %1768
  br i1 %1826, label %1870, label %1827

1827:                                             ; preds = %1823
  switch i8 %1772, label %1870 [
    i8 0, label %1828
    i8 2, label %1832
    i8 1, label %1832
  ]

1828:                                             ; preds = %1827
  %1829 = srem i64 %1825, %1768
  %1830 = add nsw i64 %1829, %1768
  %1831 = srem i64 %1830, %1768
  br label %1870

1832:                                             ; preds = %1827, %1827
  %1833 = icmp slt i64 %1825, 0
  %1834 = add nsw i64 %1768, -1
  %1835 = select i1 %1833, i64 0, i64 %1834
  br label %1870

1836:                                             ; preds = %1821
  %1837 = fadd double %1822, -5.000000e-01
  %1838 = fmul double %1837, 2.560000e+02
  %1839 = fadd double %1838, 5.000000e-01
  %1840 = call noundef double @llvm.floor.f64(double %1839)
  %1841 = fptosi double %1840 to i64
  %1842 = ashr i64 %1841, 8
  %1843 = icmp ult i64 %1842, %1768
  br i1 %1843, label %1853, label %1844

1844:                                             ; preds = %1836
  switch i8 %1772, label %1853 [
    i8 0, label %1845
    i8 2, label %1849
    i8 1, label %1849
  ]

1845:                                             ; preds = %1844
  %1846 = srem i64 %1842, %1768
  %1847 = add nsw i64 %1846, %1768
  %1848 = srem i64 %1847, %1768
  br label %1853

1849:                                             ; preds = %1844, %1844
  %1850 = icmp slt i64 %1842, 0
  %1851 = add nsw i64 %1768, -1
  %1852 = select i1 %1850, i64 0, i64 %1851
  br label %1853

1853:                                             ; preds = %1849, %1845, %1844, %1836
  %1854 = phi i64 [ %1852, %1849 ], [ %1842, %1836 ], [ %1848, %1845 ], [ -1, %1844 ]
  %1855 = add nsw i64 %1842, 1
  %1856 = icmp ult i64 %1855, %1768
  br i1 %1856, label %1866, label %1857

1857:                                             ; preds = %1853
  switch i8 %1772, label %1866 [
    i8 0, label %1858
    i8 2, label %1862
    i8 1, label %1862
  ]

1858:                                             ; preds = %1857
  %1859 = srem i64 %1855, %1768
  %1860 = add nsw i64 %1859, %1768
  %1861 = srem i64 %1860, %1768
  br label %1866

1862:                                             ; preds = %1857, %1857
  %1863 = icmp slt i64 %1842, -1
  %1864 = add nsw i64 %1768, -1
  %1865 = select i1 %1863, i64 0, i64 %1864
  br label %1866

1866:                                             ; preds = %1862, %1858, %1857, %1853
  %1867 = phi i64 [ %1865, %1862 ], [ %1855, %1853 ], [ %1861, %1858 ], [ -1, %1857 ]
  %1868 = trunc i64 %1841 to i32
  %1869 = and i32 %1868, 255
  br label %1870

1870:                                             ; preds = %1866, %1832, %1828, %1827, %1823
  %1871 = phi i64 [ %1854, %1866 ], [ %1835, %1832 ], [ %1825, %1823 ], [ %1831, %1828 ], [ -1, %1827 ]
  %1872 = phi i64 [ %1867, %1866 ], [ 0, %1832 ], [ 0, %1823 ], [ 0, %1828 ], [ 0, %1827 ]
  %1873 = phi i32 [ %1869, %1866 ], [ 0, %1832 ], [ 0, %1823 ], [ 0, %1828 ], [ 0, %1827 ]
  %1874 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %9, i32 %1754
  store i64 %1871, ptr addrspace(5) %1874, align 8
  %1875 = getelementptr inbounds nuw i8, ptr addrspace(5) %1874, i32 8
  store i64 %1872, ptr addrspace(5) %1875, align 8
  %1876 = getelementptr inbounds nuw i8, ptr addrspace(5) %1874, i32 16
  store i32 %1873, ptr addrspace(5) %1876, align 8
  %1877 = add nuw i32 %1754, 1
  %1878 = icmp eq i32 %1877, %559
  br i1 %1878, label %.loopexit166, label %1753

1879:                                             ; preds = %.loopexit159
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %9) #11
  br label %.loopexit170

1880:                                             ; preds = %.loopexit159, %.loopexit166
  %1881 = phi i32 [ 0, %.loopexit166 ], [ %1991, %.loopexit159 ]
  br i1 %1728, label %.loopexit163, label %.preheader162

.loopexit163:                                     ; preds = %2011, %1880
  %1882 = phi <3 x i64> [ %1738, %1880 ], [ %2003, %2011 ]
  %1883 = phi double [ %1406, %1880 ], [ %2012, %2011 ]
  %1884 = extractelement <3 x i64> %1882, i64 0
  %1885 = extractelement <3 x i64> %1882, i64 1
  %1886 = extractelement <3 x i64> %1882, i64 2
  %1887 = fcmp oeq double %1883, 0.000000e+00
  br i1 %1887, label %.loopexit159, label %1888

1888:                                             ; preds = %.loopexit163
  %1889 = icmp eq i64 %1884, -1
  %1890 = icmp eq i64 %1885, -1
  %1891 = or i1 %1889, %1890
  %1892 = icmp eq i64 %1886, -1
  %1893 = or i1 %1892, %1891
  br i1 %1893, label %1894, label %1914

1894:                                             ; preds = %1888
  switch i8 %613, label %1898 [
    i8 0, label %1895
    i8 1, label %1899
    i8 2, label %1896
    i8 3, label %1897
  ]

1895:                                             ; preds = %1894
  br label %1899

1896:                                             ; preds = %1894
  br label %1899

1897:                                             ; preds = %1894
  br label %1899

1898:                                             ; preds = %1894
  br label %1899

1899:                                             ; preds = %1898, %1897, %1896, %1895, %1894
  %1900 = phi double [ 1.000000e+00, %1898 ], [ %1751, %1895 ], [ 3.276700e+04, %1897 ], [ 6.553500e+04, %1896 ], [ 1.270000e+02, %1894 ]
  br i1 %1746, label %.loopexit159, label %1901

1901:                                             ; preds = %1899
  %1902 = fmul double %1883, %1900
  br label %vector.ph575

vector.ph575:                                     ; preds = %vector.ph575, %1901
  %1903 = phi i32 [ 0, %1901 ], [ %1912, %vector.ph575 ]
  %1904 = zext nneg i32 %1903 to i64
  %1905 = getelementptr inbounds nuw i32, ptr %1752, i64 %1904
  %1906 = load float, ptr %1905, align 4
  %1907 = fpext float %1906 to double
  %1908 = fmul double %1902, %1907
  %1909 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1903
  %1910 = load double, ptr addrspace(5) %1909, align 8
  %1911 = fadd double %1908, %1910
  store double %1911, ptr addrspace(5) %1909, align 8
  %1912 = add nuw nsw i32 %1903, 1
  %1913 = icmp eq i32 %1912, %1745
  br i1 %1913, label %.loopexit159, label %vector.ph575

1914:                                             ; preds = %1888
  %1915 = load ptr, ptr %1404, align 8
  %1916 = load i64, ptr %1739, align 8
  %1917 = mul i64 %1916, %1886
  %1918 = getelementptr inbounds nuw i8, ptr %1915, i64 %1917
  %1919 = load i64, ptr %1740, align 8
  %1920 = mul i64 %1919, %1885
  %1921 = getelementptr inbounds nuw i8, ptr %1918, i64 %1920
  %1922 = load i32, ptr addrspace(4) %1742, align 4
  %1923 = mul i32 %1922, %1745
  %1924 = zext i32 %1923 to i64
  %1925 = mul i64 %1884, %1924
  %1926 = getelementptr inbounds nuw i8, ptr %1921, i64 %1925
  br i1 %1746, label %.loopexit159, label %.preheader160

.preheader160:                                    ; preds = %1914, %1983
  %1927 = phi i32 [ %1989, %1983 ], [ 0, %1914 ]
  switch i8 %613, label %1983 [
    i8 7, label %vector.ph579
    i8 0, label %1932
    i8 1, label %1945
    i8 2, label %vector.ph583
    i8 3, label %vector.ph587
    i8 6, label %vector.ph591
  ]

vector.ph579:                                     ; preds = %.preheader160
  %1928 = shl nuw nsw i32 %1927, 2
  %1929 = zext nneg i32 %1928 to i64
  %1930 = getelementptr inbounds nuw i8, ptr %1926, i64 %1929
  %wide.load581658 = load float, ptr %1930, align 1
  %1931 = fpext float %wide.load581658 to double
  br label %1983

1932:                                             ; preds = %.preheader160
  %1933 = icmp samesign ult i32 %1927, 3
  %1934 = select i1 %1749, i1 %1933, i1 false
  %1935 = zext nneg i32 %1927 to i64
  %1936 = getelementptr inbounds nuw i8, ptr %1926, i64 %1935
  %1937 = load i8, ptr %1936, align 1
  br i1 %1934, label %1938, label %1942

1938:                                             ; preds = %1932
  %1939 = zext i8 %1937 to i64
  %1940 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %1939
  %1941 = load double, ptr addrspace(4) %1940, align 8
  br label %1983

1942:                                             ; preds = %1932
  %1943 = uitofp i8 %1937 to double
  %1944 = fdiv double %1943, %1750
  br label %1983

1945:                                             ; preds = %.preheader160
  %1946 = zext nneg i32 %1927 to i64
  %1947 = getelementptr inbounds nuw i8, ptr %1926, i64 %1946
  %1948 = load i8, ptr %1947, align 1
  %1949 = call i8 @llvm.smax.i8(i8 %1948, i8 -127)
  %1950 = sitofp i8 %1949 to double
  br label %1983

vector.ph583:                                     ; preds = %.preheader160
  %1951 = shl nuw nsw i32 %1927, 1
  %1952 = zext nneg i32 %1951 to i64
  %1953 = getelementptr inbounds nuw i8, ptr %1926, i64 %1952
  %wide.load585657 = load i16, ptr %1953, align 1
  %1954 = uitofp i16 %wide.load585657 to double
  br label %1983

vector.ph587:                                     ; preds = %.preheader160
  %1955 = shl nuw nsw i32 %1927, 1
  %1956 = zext nneg i32 %1955 to i64
  %1957 = getelementptr inbounds nuw i8, ptr %1926, i64 %1956
  %wide.load589656 = load i16, ptr %1957, align 1
  %1958 = call i16 @llvm.smax.i16(i16 %wide.load589656, i16 -32767)
  %1959 = sitofp i16 %1958 to double
  br label %1983

vector.ph591:                                     ; preds = %.preheader160
  %1960 = shl nuw nsw i32 %1927, 1
  %1961 = zext nneg i32 %1960 to i64
  %1962 = getelementptr inbounds nuw i8, ptr %1926, i64 %1961
  %wide.load593655 = load i16, ptr %1962, align 1
  %1963 = zext i16 %wide.load593655 to i32
  %1964 = lshr i32 %1963, 10
  %1965 = and i32 %1964, 31
  %1966 = and i32 %1963, 1023
  %1967 = shl nuw nsw i32 %1965, 23
  %1968 = add nuw nsw i32 %1967, 939524096
  %1969 = shl nuw nsw i32 %1966, 13
  %1970 = icmp eq i32 %1965, 31
  %1971 = select i1 %1970, i32 2139095040, i32 %1968
  %1972 = or disjoint i32 %1971, %1969
  %1973 = icmp eq i32 %1965, 0
  %1974 = uitofp nneg i32 %1966 to float
  %1975 = fmul float %1974, 0x3E70000000000000
  %1976 = bitcast float %1975 to i32
  %1977 = select i1 %1973, i32 %1976, i32 %1972
  %1978 = sext i16 %wide.load593655 to i32
  %1979 = and i32 %1978, -2147483648
  %1980 = or disjoint i32 %1977, %1979
  %1981 = bitcast i32 %1980 to float
  %1982 = fpext float %1981 to double
  br label %1983

1983:                                             ; preds = %vector.ph591, %vector.ph587, %vector.ph583, %1945, %1942, %1938, %vector.ph579, %.preheader160
  %1984 = phi double [ %1944, %1942 ], [ %1931, %vector.ph579 ], [ %1982, %vector.ph591 ], [ %1950, %1945 ], [ %1954, %vector.ph583 ], [ %1959, %vector.ph587 ], [ %1941, %1938 ], [ 0.000000e+00, %.preheader160 ]
  %1985 = fmul double %1883, %1984
  %1986 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %1927
  %1987 = load double, ptr addrspace(5) %1986, align 8
  %1988 = fadd double %1987, %1985
  store double %1988, ptr addrspace(5) %1986, align 8
  %1989 = add nuw nsw i32 %1927, 1
  %1990 = icmp eq i32 %1989, %1745
  br i1 %1990, label %.loopexit159, label %.preheader160

.loopexit159:                                     ; preds = %1983, %vector.ph575, %1914, %1899, %.loopexit163
  %1991 = add nuw i32 %1881, 1
  %1992 = lshr i32 %1991, %559
  %1993 = icmp ne i32 %1992, 0
  %1994 = select i1 %776, i1 true, i1 %1993
  br i1 %1994, label %1879, label %1880

.preheader162:                                    ; preds = %1880, %2011
  %1995 = phi i32 [ %2013, %2011 ], [ 0, %1880 ]
  %1996 = phi double [ %2012, %2011 ], [ %1406, %1880 ]
  %1997 = phi <3 x i64> [ %2003, %2011 ], [ %1738, %1880 ]
  %1998 = shl nuw i32 1, %1995
  %1999 = and i32 %1998, %1881
  %2000 = icmp eq i32 %1999, 0
  %2001 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %9, i32 %1995
  %.sroa.sel4.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx = select i1 %2000, i32 0, i32 8
  %.sroa.sel4.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel = getelementptr inbounds nuw i8, ptr addrspace(5) %2001, i32 %.sroa.sel4.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx
  %2002 = load i64, ptr addrspace(5) %.sroa.sel4.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel, align 8
  %2003 = insertelement <3 x i64> %1997, i64 %2002, i32 %1995
  br i1 %776, label %2011, label %2004

2004:                                             ; preds = %.preheader162
  %2005 = getelementptr inbounds nuw i8, ptr addrspace(5) %2001, i32 16
  %2006 = load i32, ptr addrspace(5) %2005, align 8
  %2007 = sub i32 256, %2006
  %2008 = select i1 %2000, i32 %2007, i32 %2006
  %2009 = uitofp i32 %2008 to double
  %2010 = fmul double %1996, %2009
  br label %2011

2011:                                             ; preds = %2004, %.preheader162
  %2012 = phi double [ %1996, %.preheader162 ], [ %2010, %2004 ]
  %2013 = add nuw i32 %1995, 1
  %2014 = icmp eq i32 %2013, %559
  br i1 %2014, label %.loopexit163, label %.preheader162

.loopexit170:                                     ; preds = %.loopexit167, %1879
  %2015 = phi i1 [ %1749, %1879 ], [ %1478, %.loopexit167 ]
  %2016 = phi i8 [ %1744, %1879 ], [ %1473, %.loopexit167 ]
  %2017 = zext nneg i32 %788 to i64
  %2018 = getelementptr inbounds nuw %"struct.aw::TextureLevel", ptr %1402, i64 %2017
  %2019 = uitofp nneg i32 %781 to double
  br i1 %1413, label %2320, label %2020

2020:                                             ; preds = %.loopexit170
  %2021 = getelementptr inbounds nuw i8, ptr %2018, i64 24
  %2022 = load i32, ptr %2021, align 8
  %2023 = uitofp i32 %2022 to double
  br label %2032

2024:                                             ; preds = %2032
  %2025 = zext i32 %2022 to i64
  %2026 = extractelement <2 x i32> %2049, i64 0
  %2027 = sub i32 256, %2026
  %2028 = extractelement <2 x i32> %2049, i64 1
  %2029 = sub i32 256, %2028
  %2030 = extractelement <2 x i64> %2046, i64 0
  %2031 = extractelement <2 x i64> %2046, i64 1
  br label %2083

2032:                                             ; preds = %2032, %2020
  %2033 = phi i1 [ true, %2020 ], [ false, %2032 ]
  %2034 = phi i32 [ 0, %2020 ], [ 1, %2032 ]
  %2035 = phi <2 x i64> [ zeroinitializer, %2020 ], [ %2046, %2032 ]
  %2036 = phi <2 x i32> [ zeroinitializer, %2020 ], [ %2049, %2032 ]
  %2037 = getelementptr inbounds nuw double, ptr addrspace(5) %371, i32 %2034
  %2038 = load double, ptr addrspace(5) %2037, align 8
  %2039 = fmul double %2038, %2023
  %2040 = fadd double %2039, -5.000000e-01
  %2041 = fmul double %2040, 2.560000e+02
  %2042 = fadd double %2041, 5.000000e-01
  %2043 = call noundef double @llvm.floor.f64(double %2042)
  %2044 = fptosi double %2043 to i64
  %2045 = ashr i64 %2044, 8
  %2046 = insertelement <2 x i64> %2035, i64 %2045, i32 %2034
  %2047 = trunc i64 %2044 to i32
  %2048 = and i32 %2047, 255
  %2049 = insertelement <2 x i32> %2036, i32 %2048, i32 %2034
  br i1 %2033, label %2032, label %2024

2050:                                             ; preds = %2111
  %2051 = fdiv double %2113, 3.000000e+00
  %2052 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 8
  %2053 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 16
  %2054 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 24
  %2055 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 32
  %2056 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 40
  %2057 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 48
  %2058 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 56
  %2059 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 64
  %2060 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 72
  %2061 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 80
  %2062 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 88
  %2063 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 96
  %2064 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 104
  %2065 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 112
  %2066 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 120
  %2067 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 128
  %2068 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 136
  %2069 = load i64, ptr addrspace(5) %382, align 8
  %2070 = load i32, ptr addrspace(5) %383, align 8
  %2071 = getelementptr inbounds [3 x double], ptr addrspace(5) %6, i32 %2070
  %2072 = add nsw i64 %2025, -1
  %2073 = mul i64 %2069, 6
  %2074 = getelementptr inbounds nuw i8, ptr %2018, i64 16
  %2075 = getelementptr inbounds nuw i8, ptr %2018, i64 8
  %2076 = zext i8 %613 to i64
  %2077 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %2076
  %2078 = zext i8 %2016 to i32
  %2079 = icmp eq i8 %2016, 0
  %2080 = select i1 %2015, double 2.550000e+02, double 1.000000e+00
  %2081 = select i1 %2015, double 1.000000e+00, double 2.550000e+02
  %2082 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %2116

2083:                                             ; preds = %2111, %2024
  %2084 = phi <4 x double> [ zeroinitializer, %2024 ], [ %2112, %2111 ]
  %2085 = phi i32 [ 0, %2024 ], [ %2114, %2111 ]
  %2086 = phi double [ 0.000000e+00, %2024 ], [ %2113, %2111 ]
  %2087 = and i32 %2085, 1
  %2088 = icmp eq i32 %2087, 0
  %2089 = select i1 %2088, i32 %2027, i32 %2026
  %2090 = uitofp i32 %2089 to double
  %2091 = fmul double %2019, %2090
  %2092 = icmp samesign ult i32 %2085, 2
  %2093 = select i1 %2092, i32 %2029, i32 %2028
  %2094 = uitofp i32 %2093 to double
  %2095 = fmul double %2091, %2094
  %2096 = insertelement <4 x double> %2084, double %2095, i32 %2085
  %2097 = zext nneg i32 %2087 to i64
  %2098 = add nsw i64 %2030, %2097
  %2099 = icmp slt i64 %2098, 0
  %2100 = icmp sge i64 %2098, %2025
  %2101 = select i1 %2099, i1 true, i1 %2100
  br i1 %2101, label %2102, label %2111

2102:                                             ; preds = %2083
  %2103 = lshr i32 %2085, 1
  %2104 = zext nneg i32 %2103 to i64
  %2105 = add nsw i64 %2031, %2104
  %2106 = icmp slt i64 %2105, 0
  %2107 = icmp sge i64 %2105, %2025
  %2108 = select i1 %2106, i1 true, i1 %2107
  br i1 %2108, label %2109, label %2111

2109:                                             ; preds = %2102
  %2110 = insertelement <4 x double> %2096, double -1.000000e+00, i32 %2085
  br label %2111

2111:                                             ; preds = %2109, %2102, %2083
  %2112 = phi <4 x double> [ %2110, %2109 ], [ %2096, %2102 ], [ %2096, %2083 ]
  %2113 = phi double [ %2095, %2109 ], [ %2086, %2102 ], [ %2086, %2083 ]
  %2114 = add nuw nsw i32 %2085, 1
  %2115 = icmp eq i32 %2114, 4
  br i1 %2115, label %2050, label %2083

2116:                                             ; preds = %.loopexit155, %2050
  %2117 = phi i32 [ 0, %2050 ], [ %2318, %.loopexit155 ]
  %2118 = extractelement <4 x double> %2112, i32 %2117
  %2119 = fcmp olt double %2118, 0.000000e+00
  br i1 %2119, label %.loopexit155, label %2120

2120:                                             ; preds = %2116
  %2121 = and i32 %2117, 1
  %2122 = zext nneg i32 %2121 to i64
  %2123 = add nsw i64 %2030, %2122
  %2124 = lshr i32 %2117, 1
  %2125 = zext nneg i32 %2124 to i64
  %2126 = add nsw i64 %2031, %2125
  %2127 = fadd double %2051, %2118
  %2128 = icmp sgt i64 %2123, -1
  br i1 %2128, label %2129, label %2133

2129:                                             ; preds = %2120
  %2130 = icmp samesign ult i64 %2123, %2025
  %2131 = icmp ult i64 %2126, %2025
  %2132 = and i1 %2130, %2131
  br i1 %2132, label %2208, label %2133

2133:                                             ; preds = %2129, %2120
  %2134 = sitofp i64 %2123 to double
  %2135 = fmul double %2134, 2.000000e+00
  %2136 = fadd double %2135, 1.000000e+00
  %2137 = fdiv double %2136, %2023
  %2138 = fadd double %2137, -1.000000e+00
  %2139 = sitofp i64 %2126 to double
  %2140 = fmul double %2139, 2.000000e+00
  %2141 = fadd double %2140, 1.000000e+00
  %2142 = fdiv double %2141, %2023
  %2143 = fadd double %2142, -1.000000e+00
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %6) #11
  store double 1.000000e+00, ptr addrspace(5) %6, align 8
  %2144 = fneg double %2143
  store double %2144, ptr addrspace(5) %2052, align 8
  %2145 = fneg double %2138
  store double %2145, ptr addrspace(5) %2053, align 8
  store double -1.000000e+00, ptr addrspace(5) %2054, align 8
  store double %2144, ptr addrspace(5) %2055, align 8
  store double %2138, ptr addrspace(5) %2056, align 8
  store double %2138, ptr addrspace(5) %2057, align 8
  store double 1.000000e+00, ptr addrspace(5) %2058, align 8
  store double %2143, ptr addrspace(5) %2059, align 8
  store double %2138, ptr addrspace(5) %2060, align 8
  store double -1.000000e+00, ptr addrspace(5) %2061, align 8
  store double %2144, ptr addrspace(5) %2062, align 8
  store double %2138, ptr addrspace(5) %2063, align 8
  store double %2144, ptr addrspace(5) %2064, align 8
  store double 1.000000e+00, ptr addrspace(5) %2065, align 8
  store double %2145, ptr addrspace(5) %2066, align 8
  store double %2144, ptr addrspace(5) %2067, align 8
  store double -1.000000e+00, ptr addrspace(5) %2068, align 8
  br label %2146

2146:                                             ; preds = %2146, %2133
  %2147 = phi <3 x double> [ zeroinitializer, %2133 ], [ %2151, %2146 ]
  %2148 = phi i32 [ 0, %2133 ], [ %2152, %2146 ]
  %2149 = getelementptr inbounds nuw double, ptr addrspace(5) %2071, i32 %2148
  %2150 = load double, ptr addrspace(5) %2149, align 8
  %2151 = insertelement <3 x double> %2147, double %2150, i32 %2148
  %2152 = add nuw nsw i32 %2148, 1
  %2153 = icmp eq i32 %2152, 3
  br i1 %2153, label %2154, label %2146

2154:                                             ; preds = %2146
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %6) #11
  %2155 = extractelement <3 x double> %2151, i64 0
  %2156 = extractelement <3 x double> %2151, i64 1
  %2157 = extractelement <3 x double> %2151, i64 2
  %2158 = call noundef double @llvm.fabs.f64(double %2155)
  %2159 = call noundef double @llvm.fabs.f64(double %2156)
  %2160 = call noundef double @llvm.fabs.f64(double %2157)
  %2161 = fcmp ult double %2160, %2158
  %2162 = fcmp ult double %2160, %2159
  %2163 = or i1 %2161, %2162
  br i1 %2163, label %2171, label %2164

2164:                                             ; preds = %2154
  %2165 = bitcast double %2157 to i64
  %2166 = icmp slt i64 %2165, 0
  %2167 = fneg double %2155
  %2168 = fneg double %2156
  %2169 = select i1 %2166, i32 5, i32 4
  %2170 = select i1 %2166, double %2167, double %2155
  br label %2187

2171:                                             ; preds = %2154
  %2172 = fcmp ult double %2159, %2158
  br i1 %2172, label %2179, label %2173

2173:                                             ; preds = %2171
  %2174 = bitcast double %2156 to i64
  %2175 = icmp slt i64 %2174, 0
  %2176 = fneg double %2157
  %2177 = select i1 %2175, i32 3, i32 2
  %2178 = select i1 %2175, double %2176, double %2157
  br label %2187

2179:                                             ; preds = %2171
  %2180 = bitcast double %2155 to i64
  %2181 = icmp slt i64 %2180, 0
  %2182 = fneg double %2156
  %2183 = fneg double %2157
  %2184 = lshr i64 %2180, 63
  %2185 = trunc nuw nsw i64 %2184 to i32
  %2186 = select i1 %2181, double %2157, double %2183
  br label %2187

2187:                                             ; preds = %2179, %2173, %2164
  %2188 = phi i32 [ %2169, %2164 ], [ %2177, %2173 ], [ %2185, %2179 ]
  %2189 = phi double [ %2170, %2164 ], [ %2155, %2173 ], [ %2186, %2179 ]
  %2190 = phi double [ %2168, %2164 ], [ %2178, %2173 ], [ %2182, %2179 ]
  %2191 = phi double [ %2160, %2164 ], [ %2159, %2173 ], [ %2158, %2179 ]
  %2192 = fdiv double %2189, %2191
  %2193 = fadd double %2192, 1.000000e+00
  %2194 = fmul double %2193, 5.000000e-01
  %2195 = fmul double %2194, %2023
  %2196 = fptosi double %2195 to i64
  %2197 = icmp slt i64 %2196, 0
  %2198 = call i64 @llvm.smin.i64(i64 %2072, i64 %2196)
  %2199 = select i1 %2197, i64 0, i64 %2198
  %2200 = fdiv double %2190, %2191
  %2201 = fadd double %2200, 1.000000e+00
  %2202 = fmul double %2201, 5.000000e-01
  %2203 = fmul double %2202, %2023
  %2204 = fptosi double %2203 to i64
  %2205 = icmp slt i64 %2204, 0
  %2206 = call i64 @llvm.smin.i64(i64 %2072, i64 %2204)
  %2207 = select i1 %2205, i64 0, i64 %2206
  br label %2208

2208:                                             ; preds = %2187, %2129
  %2209 = phi i64 [ %2126, %2129 ], [ %2207, %2187 ]
  %2210 = phi i64 [ %2123, %2129 ], [ %2199, %2187 ]
  %2211 = phi i32 [ %2070, %2129 ], [ %2188, %2187 ]
  %2212 = zext i32 %2211 to i64
  %2213 = add i64 %2073, %2212
  %2214 = fcmp oeq double %2127, 0.000000e+00
  br i1 %2214, label %.loopexit155, label %2215

2215:                                             ; preds = %2208
  %2216 = icmp eq i64 %2210, -1
  %2217 = icmp eq i64 %2209, -1
  %2218 = or i1 %2217, %2216
  %2219 = icmp eq i64 %2213, -1
  %2220 = or i1 %2218, %2219
  br i1 %2220, label %2221, label %2241

2221:                                             ; preds = %2215
  switch i8 %613, label %2225 [
    i8 0, label %2222
    i8 1, label %2226
    i8 2, label %2223
    i8 3, label %2224
  ]

2222:                                             ; preds = %2221
  br label %2226

2223:                                             ; preds = %2221
  br label %2226

2224:                                             ; preds = %2221
  br label %2226

2225:                                             ; preds = %2221
  br label %2226

2226:                                             ; preds = %2225, %2224, %2223, %2222, %2221
  %2227 = phi double [ 1.000000e+00, %2225 ], [ %2081, %2222 ], [ 3.276700e+04, %2224 ], [ 6.553500e+04, %2223 ], [ 1.270000e+02, %2221 ]
  br i1 %2079, label %.loopexit155, label %2228

2228:                                             ; preds = %2226
  %2229 = fmul double %2127, %2227
  br label %vector.ph595

vector.ph595:                                     ; preds = %vector.ph595, %2228
  %2230 = phi i32 [ 0, %2228 ], [ %2239, %vector.ph595 ]
  %2231 = zext nneg i32 %2230 to i64
  %2232 = getelementptr inbounds nuw i32, ptr %2082, i64 %2231
  %2233 = load float, ptr %2232, align 4
  %2234 = fpext float %2233 to double
  %2235 = fmul double %2229, %2234
  %2236 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %2230
  %2237 = load double, ptr addrspace(5) %2236, align 8
  %2238 = fadd double %2235, %2237
  store double %2238, ptr addrspace(5) %2236, align 8
  %2239 = add nuw nsw i32 %2230, 1
  %2240 = icmp eq i32 %2239, %2078
  br i1 %2240, label %.loopexit155, label %vector.ph595

2241:                                             ; preds = %2215
  %2242 = load ptr, ptr %2018, align 8
  %2243 = load i64, ptr %2074, align 8
  %2244 = mul i64 %2243, %2213
  %2245 = getelementptr inbounds nuw i8, ptr %2242, i64 %2244
  %2246 = load i64, ptr %2075, align 8
  %2247 = mul i64 %2246, %2209
  %2248 = getelementptr inbounds nuw i8, ptr %2245, i64 %2247
  %2249 = load i32, ptr addrspace(4) %2077, align 4
  %2250 = mul i32 %2249, %2078
  %2251 = zext i32 %2250 to i64
  %2252 = mul i64 %2210, %2251
  %2253 = getelementptr inbounds nuw i8, ptr %2248, i64 %2252
  br i1 %2079, label %.loopexit155, label %.preheader156

.preheader156:                                    ; preds = %2241, %2310
  %2254 = phi i32 [ %2316, %2310 ], [ 0, %2241 ]
  switch i8 %613, label %2310 [
    i8 7, label %vector.ph599
    i8 0, label %2259
    i8 1, label %2272
    i8 2, label %vector.ph603
    i8 3, label %vector.ph607
    i8 6, label %vector.ph611
  ]

vector.ph599:                                     ; preds = %.preheader156
  %2255 = shl nuw nsw i32 %2254, 2
  %2256 = zext nneg i32 %2255 to i64
  %2257 = getelementptr inbounds nuw i8, ptr %2253, i64 %2256
  %wide.load601662 = load float, ptr %2257, align 1
  %2258 = fpext float %wide.load601662 to double
  br label %2310

2259:                                             ; preds = %.preheader156
  %2260 = icmp samesign ult i32 %2254, 3
  %2261 = select i1 %2015, i1 %2260, i1 false
  %2262 = zext nneg i32 %2254 to i64
  %2263 = getelementptr inbounds nuw i8, ptr %2253, i64 %2262
  %2264 = load i8, ptr %2263, align 1
  br i1 %2261, label %2265, label %2269

2265:                                             ; preds = %2259
  %2266 = zext i8 %2264 to i64
  %2267 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %2266
  %2268 = load double, ptr addrspace(4) %2267, align 8
  br label %2310

2269:                                             ; preds = %2259
  %2270 = uitofp i8 %2264 to double
  %2271 = fdiv double %2270, %2080
  br label %2310

2272:                                             ; preds = %.preheader156
  %2273 = zext nneg i32 %2254 to i64
  %2274 = getelementptr inbounds nuw i8, ptr %2253, i64 %2273
  %2275 = load i8, ptr %2274, align 1
  %2276 = call i8 @llvm.smax.i8(i8 %2275, i8 -127)
  %2277 = sitofp i8 %2276 to double
  br label %2310

vector.ph603:                                     ; preds = %.preheader156
  %2278 = shl nuw nsw i32 %2254, 1
  %2279 = zext nneg i32 %2278 to i64
  %2280 = getelementptr inbounds nuw i8, ptr %2253, i64 %2279
  %wide.load605661 = load i16, ptr %2280, align 1
  %2281 = uitofp i16 %wide.load605661 to double
  br label %2310

vector.ph607:                                     ; preds = %.preheader156
  %2282 = shl nuw nsw i32 %2254, 1
  %2283 = zext nneg i32 %2282 to i64
  %2284 = getelementptr inbounds nuw i8, ptr %2253, i64 %2283
  %wide.load609660 = load i16, ptr %2284, align 1
  %2285 = call i16 @llvm.smax.i16(i16 %wide.load609660, i16 -32767)
  %2286 = sitofp i16 %2285 to double
  br label %2310

vector.ph611:                                     ; preds = %.preheader156
  %2287 = shl nuw nsw i32 %2254, 1
  %2288 = zext nneg i32 %2287 to i64
  %2289 = getelementptr inbounds nuw i8, ptr %2253, i64 %2288
  %wide.load613659 = load i16, ptr %2289, align 1
  %2290 = zext i16 %wide.load613659 to i32
  %2291 = lshr i32 %2290, 10
  %2292 = and i32 %2291, 31
  %2293 = and i32 %2290, 1023
  %2294 = shl nuw nsw i32 %2292, 23
  %2295 = add nuw nsw i32 %2294, 939524096
  %2296 = shl nuw nsw i32 %2293, 13
  %2297 = icmp eq i32 %2292, 31
  %2298 = select i1 %2297, i32 2139095040, i32 %2295
  %2299 = or disjoint i32 %2298, %2296
  %2300 = icmp eq i32 %2292, 0
  %2301 = uitofp nneg i32 %2293 to float
  %2302 = fmul float %2301, 0x3E70000000000000
  %2303 = bitcast float %2302 to i32
  %2304 = select i1 %2300, i32 %2303, i32 %2299
  %2305 = sext i16 %wide.load613659 to i32
  %2306 = and i32 %2305, -2147483648
  %2307 = or disjoint i32 %2304, %2306
  %2308 = bitcast i32 %2307 to float
  %2309 = fpext float %2308 to double
  br label %2310

2310:                                             ; preds = %vector.ph611, %vector.ph607, %vector.ph603, %2272, %2269, %2265, %vector.ph599, %.preheader156
  %2311 = phi double [ %2271, %2269 ], [ %2258, %vector.ph599 ], [ %2309, %vector.ph611 ], [ %2277, %2272 ], [ %2281, %vector.ph603 ], [ %2286, %vector.ph607 ], [ %2268, %2265 ], [ 0.000000e+00, %.preheader156 ]
  %2312 = fmul double %2127, %2311
  %2313 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %2254
  %2314 = load double, ptr addrspace(5) %2313, align 8
  %2315 = fadd double %2314, %2312
  store double %2315, ptr addrspace(5) %2313, align 8
  %2316 = add nuw nsw i32 %2254, 1
  %2317 = icmp eq i32 %2316, %2078
  br i1 %2317, label %.loopexit155, label %.preheader156

.loopexit155:                                     ; preds = %2310, %vector.ph595, %2241, %2226, %2208, %2116
  %2318 = add nuw nsw i32 %2117, 1
  %2319 = icmp eq i32 %2318, 4
  br i1 %2319, label %.loopexit158, label %2116

2320:                                             ; preds = %.loopexit170
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %7) #11
  store i64 0, ptr addrspace(5) %7, align 8
  %2321 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 8
  store i64 0, ptr addrspace(5) %2321, align 8
  %2322 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 16
  store i32 0, ptr addrspace(5) %2322, align 8
  %2323 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 24
  store i64 0, ptr addrspace(5) %2323, align 8
  %2324 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 32
  store i64 0, ptr addrspace(5) %2324, align 8
  %2325 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 40
  store i32 0, ptr addrspace(5) %2325, align 8
  %2326 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 48
  store i64 0, ptr addrspace(5) %2326, align 8
  %2327 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 56
  store i64 0, ptr addrspace(5) %2327, align 8
  %2328 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 64
  store i32 0, ptr addrspace(5) %2328, align 8
  %2329 = icmp eq i32 %559, 0
  br i1 %2329, label %.loopexit154, label %2330

2330:                                             ; preds = %2320
  %2331 = getelementptr inbounds nuw i8, ptr %0, i64 14
  %2332 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %2333 = load i8, ptr %2332, align 1
  %2334 = or i8 %2333, %341
  %2335 = icmp eq i8 %2334, 0
  br label %2349

.loopexit154:                                     ; preds = %2466, %2320
  %2336 = icmp eq i32 %559, 3
  %2337 = load i64, ptr addrspace(5) %381, align 8
  %2338 = select i1 %2336, i64 0, i64 %2337
  %2339 = insertelement <3 x i64> <i64 0, i64 0, i64 poison>, i64 %2338, i64 2
  %2340 = getelementptr inbounds nuw i8, ptr %2018, i64 16
  %2341 = getelementptr inbounds nuw i8, ptr %2018, i64 8
  %2342 = zext i8 %613 to i64
  %2343 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %2342
  %2344 = zext i8 %2016 to i32
  %2345 = icmp eq i8 %2016, 0
  %2346 = select i1 %2015, double 2.550000e+02, double 1.000000e+00
  %2347 = select i1 %2015, double 1.000000e+00, double 2.550000e+02
  %2348 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %2476

2349:                                             ; preds = %2466, %2330
  %2350 = phi i32 [ 0, %2330 ], [ %2473, %2466 ]
  %2351 = zext i32 %2350 to i64
  %2352 = getelementptr inbounds nuw i8, ptr %2331, i64 %2351
  %2353 = load i8, ptr %2352, align 1
  %2354 = getelementptr inbounds double, ptr addrspace(5) %371, i32 %2350
  %2355 = load double, ptr addrspace(5) %2354, align 8
  %2356 = getelementptr inbounds i32, ptr addrspace(5) %374, i32 %2350
  %2357 = load i32, ptr addrspace(5) %2356, align 4
  %2358 = icmp eq i32 %2350, 1
  %2359 = select i1 %2358, i64 28, i64 32
  %2360 = icmp eq i32 %2350, 0
  %2361 = select i1 %2360, i64 24, i64 %2359
  %2362 = getelementptr inbounds nuw i8, ptr %2018, i64 %2361
  %2363 = load i32, ptr %2362, align 4
  %2364 = zext i32 %2363 to i64
  %2365 = and i8 %2353, -3
  %2366 = or i8 %2365, %2334
  %2367 = icmp eq i8 %2366, 0
  %2368 = select i1 %2367, i8 1, i8 %2353
  %2369 = uitofp i32 %2363 to double
  %2370 = fmul double %2355, %2369
  %2371 = select i1 %2335, double %2355, double %2370
  %2372 = sitofp i32 %2357 to double
  %2373 = fadd double %2371, %2372
  %2374 = and i8 %2368, -3
  %2375 = icmp eq i8 %2374, 1
  br i1 %2375, label %2376, label %2381

2376:                                             ; preds = %2349
  %2377 = fcmp olt double %2373, -1.000000e+09
  %2378 = fcmp ogt double %2373, 1.000000e+09
  %2379 = select i1 %2378, double 1.000000e+09, double %2373
  %2380 = select i1 %2377, double -1.000000e+09, double %2379
  br label %2417

2381:                                             ; preds = %2349
  %2382 = call double @llvm.fabs.f64(double %2373)
  %2383 = fcmp ueq double %2382, 0x7FF0000000000000
  br i1 %2383, label %2417, label %2384

2384:                                             ; preds = %2381
  %2385 = icmp eq i8 %2368, 2
  %2386 = zext i1 %2385 to i64
  %2387 = shl nuw nsw i64 %2364, %2386
  %2388 = uitofp nneg i64 %2387 to double
  %2389 = fcmp ult double %2382, %2388
  br i1 %2389, label %.loopexit153, label %.preheader152

.preheader152:                                    ; preds = %2384, %.preheader152
  %2390 = phi double [ %2397, %.preheader152 ], [ %2382, %2384 ]
  %2391 = fdiv double %2390, %2388
  %2392 = fmul double %2391, 0x3FEFFFFFFFFFFFFE
  %2393 = call double @llvm.trunc.f64(double %2392)
  %2394 = fcmp olt double %2393, 1.000000e+00
  %2395 = fneg double %2393
  %2396 = select i1 %2394, double -1.000000e+00, double %2395
  %2397 = call double @llvm.fma.f64(double %2396, double %2388, double %2390)
  %2398 = fcmp ult double %2397, %2388
  br i1 %2398, label %.loopexit153, label %.preheader152

.loopexit153:                                     ; preds = %.preheader152, %2384
  %2399 = phi double [ %2382, %2384 ], [ %2397, %.preheader152 ]
  %2400 = fcmp olt double %2373, 0.000000e+00
  %2401 = fneg double %2399
  %2402 = select i1 %2400, double %2401, double %2399
  %2403 = fcmp olt double %2402, 0.000000e+00
  %2404 = fadd double %2402, %2388
  %2405 = select i1 %2403, double %2404, double %2402
  %2406 = icmp ne i8 %2368, 0
  %2407 = fcmp ult double %2405, %2388
  %2408 = or i1 %2406, %2407
  %2409 = bitcast double %2388 to i64
  %2410 = add nsw i64 %2409, -1
  %2411 = bitcast i64 %2410 to double
  %2412 = select i1 %2408, double %2405, double %2411
  %2413 = fcmp oge double %2412, %2369
  %2414 = select i1 %2385, i1 %2413, i1 false
  %2415 = fsub double %2388, %2412
  %2416 = select i1 %2414, double %2415, double %2412
  br label %2417

2417:                                             ; preds = %.loopexit153, %2381, %2376
  %2418 = phi double [ %2380, %2376 ], [ %2416, %.loopexit153 ], [ 0.000000e+00, %2381 ]
  br i1 %776, label %2419, label %2432

2419:                                             ; preds = %2417
  %2420 = call noundef double @llvm.floor.f64(double %2418)
  %2421 = fptosi double %2420 to i64
  %2422 = icmp ult i64 %2421, %2364
  br i1 %2422, label %2466, label %2423

2423:                                             ; preds = %2419
  switch i8 %2368, label %2466 [
    i8 0, label %2424
    i8 2, label %2428
    i8 1, label %2428
  ]

2424:                                             ; preds = %2423
  %2425 = srem i64 %2421, %2364
  %2426 = add nsw i64 %2425, %2364
  %2427 = srem i64 %2426, %2364
  br label %2466

2428:                                             ; preds = %2423, %2423
  %2429 = icmp slt i64 %2421, 0
  %2430 = add nsw i64 %2364, -1
  %2431 = select i1 %2429, i64 0, i64 %2430
  br label %2466

2432:                                             ; preds = %2417
  %2433 = fadd double %2418, -5.000000e-01
  %2434 = fmul double %2433, 2.560000e+02
  %2435 = fadd double %2434, 5.000000e-01
  %2436 = call noundef double @llvm.floor.f64(double %2435)
  %2437 = fptosi double %2436 to i64
  %2438 = ashr i64 %2437, 8
  %2439 = icmp ult i64 %2438, %2364
  br i1 %2439, label %2449, label %2440

2440:                                             ; preds = %2432
  switch i8 %2368, label %2449 [
    i8 0, label %2441
    i8 2, label %2445
    i8 1, label %2445
  ]

2441:                                             ; preds = %2440
  %2442 = srem i64 %2438, %2364
  %2443 = add nsw i64 %2442, %2364
  %2444 = srem i64 %2443, %2364
  br label %2449

2445:                                             ; preds = %2440, %2440
  %2446 = icmp slt i64 %2438, 0
  %2447 = add nsw i64 %2364, -1
  %2448 = select i1 %2446, i64 0, i64 %2447
  br label %2449

2449:                                             ; preds = %2445, %2441, %2440, %2432
  %2450 = phi i64 [ %2448, %2445 ], [ %2438, %2432 ], [ %2444, %2441 ], [ -1, %2440 ]
  %2451 = add nsw i64 %2438, 1
  %2452 = icmp ult i64 %2451, %2364
  br i1 %2452, label %2462, label %2453

2453:                                             ; preds = %2449
  switch i8 %2368, label %2462 [
    i8 0, label %2454
    i8 2, label %2458
    i8 1, label %2458
  ]

2454:                                             ; preds = %2453
  %2455 = srem i64 %2451, %2364
  %2456 = add nsw i64 %2455, %2364
  %2457 = srem i64 %2456, %2364
  br label %2462

2458:                                             ; preds = %2453, %2453
  %2459 = icmp slt i64 %2438, -1
  %2460 = add nsw i64 %2364, -1
  %2461 = select i1 %2459, i64 0, i64 %2460
  br label %2462

2462:                                             ; preds = %2458, %2454, %2453, %2449
  %2463 = phi i64 [ %2461, %2458 ], [ %2451, %2449 ], [ %2457, %2454 ], [ -1, %2453 ]
  %2464 = trunc i64 %2437 to i32
  %2465 = and i32 %2464, 255
  br label %2466

2466:                                             ; preds = %2462, %2428, %2424, %2423, %2419
  %2467 = phi i64 [ %2450, %2462 ], [ %2431, %2428 ], [ %2421, %2419 ], [ %2427, %2424 ], [ -1, %2423 ]
  %2468 = phi i64 [ %2463, %2462 ], [ 0, %2428 ], [ 0, %2419 ], [ 0, %2424 ], [ 0, %2423 ]
  %2469 = phi i32 [ %2465, %2462 ], [ 0, %2428 ], [ 0, %2419 ], [ 0, %2424 ], [ 0, %2423 ]
  %2470 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %7, i32 %2350
  store i64 %2467, ptr addrspace(5) %2470, align 8
  %2471 = getelementptr inbounds nuw i8, ptr addrspace(5) %2470, i32 8
  store i64 %2468, ptr addrspace(5) %2471, align 8
  %2472 = getelementptr inbounds nuw i8, ptr addrspace(5) %2470, i32 16
  store i32 %2469, ptr addrspace(5) %2472, align 8
  %2473 = add nuw i32 %2350, 1
  %2474 = icmp eq i32 %2473, %559
  br i1 %2474, label %.loopexit154, label %2349

2475:                                             ; preds = %.loopexit147
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %7) #11
  br label %.loopexit158

2476:                                             ; preds = %.loopexit147, %.loopexit154
  %2477 = phi i1 [ %776, %.loopexit154 ], [ false, %.loopexit147 ]
  %2478 = phi i32 [ 0, %.loopexit154 ], [ %2588, %.loopexit147 ]
  br i1 %2329, label %.loopexit151, label %.preheader150

.loopexit151:                                     ; preds = %2608, %2476
  %2479 = phi <3 x i64> [ %2339, %2476 ], [ %2600, %2608 ]
  %2480 = phi double [ %2019, %2476 ], [ %2609, %2608 ]
  %2481 = extractelement <3 x i64> %2479, i64 0
  %2482 = extractelement <3 x i64> %2479, i64 1
  %2483 = extractelement <3 x i64> %2479, i64 2
  %2484 = fcmp oeq double %2480, 0.000000e+00
  br i1 %2484, label %.loopexit147, label %2485

2485:                                             ; preds = %.loopexit151
  %2486 = icmp eq i64 %2481, -1
  %2487 = icmp eq i64 %2482, -1
  %2488 = or i1 %2486, %2487
  %2489 = icmp eq i64 %2483, -1
  %2490 = or i1 %2489, %2488
  br i1 %2490, label %2491, label %2511

2491:                                             ; preds = %2485
  switch i8 %613, label %2495 [
    i8 0, label %2492
    i8 1, label %2496
    i8 2, label %2493
    i8 3, label %2494
  ]

2492:                                             ; preds = %2491
  br label %2496

2493:                                             ; preds = %2491
  br label %2496

2494:                                             ; preds = %2491
  br label %2496

2495:                                             ; preds = %2491
  br label %2496

2496:                                             ; preds = %2495, %2494, %2493, %2492, %2491
  %2497 = phi double [ 1.000000e+00, %2495 ], [ %2347, %2492 ], [ 3.276700e+04, %2494 ], [ 6.553500e+04, %2493 ], [ 1.270000e+02, %2491 ]
  br i1 %2345, label %.loopexit147, label %2498

2498:                                             ; preds = %2496
  %2499 = fmul double %2480, %2497
  br label %vector.ph615

vector.ph615:                                     ; preds = %vector.ph615, %2498
  %2500 = phi i32 [ 0, %2498 ], [ %2509, %vector.ph615 ]
  %2501 = zext nneg i32 %2500 to i64
  %2502 = getelementptr inbounds nuw i32, ptr %2348, i64 %2501
  %2503 = load float, ptr %2502, align 4
  %2504 = fpext float %2503 to double
  %2505 = fmul double %2499, %2504
  %2506 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %2500
  %2507 = load double, ptr addrspace(5) %2506, align 8
  %2508 = fadd double %2505, %2507
  store double %2508, ptr addrspace(5) %2506, align 8
  %2509 = add nuw nsw i32 %2500, 1
  %2510 = icmp eq i32 %2509, %2344
  br i1 %2510, label %.loopexit147, label %vector.ph615

2511:                                             ; preds = %2485
  %2512 = load ptr, ptr %2018, align 8
  %2513 = load i64, ptr %2340, align 8
  %2514 = mul i64 %2513, %2483
  %2515 = getelementptr inbounds nuw i8, ptr %2512, i64 %2514
  %2516 = load i64, ptr %2341, align 8
  %2517 = mul i64 %2516, %2482
  %2518 = getelementptr inbounds nuw i8, ptr %2515, i64 %2517
  %2519 = load i32, ptr addrspace(4) %2343, align 4
  %2520 = mul i32 %2519, %2344
  %2521 = zext i32 %2520 to i64
  %2522 = mul i64 %2481, %2521
  %2523 = getelementptr inbounds nuw i8, ptr %2518, i64 %2522
  br i1 %2345, label %.loopexit147, label %.preheader148

.preheader148:                                    ; preds = %2511, %2580
  %2524 = phi i32 [ %2586, %2580 ], [ 0, %2511 ]
  switch i8 %613, label %2580 [
    i8 7, label %vector.ph619
    i8 0, label %2529
    i8 1, label %2542
    i8 2, label %vector.ph623
    i8 3, label %vector.ph627
    i8 6, label %vector.ph631
  ]

vector.ph619:                                     ; preds = %.preheader148
  %2525 = shl nuw nsw i32 %2524, 2
  %2526 = zext nneg i32 %2525 to i64
  %2527 = getelementptr inbounds nuw i8, ptr %2523, i64 %2526
  %wide.load621666 = load float, ptr %2527, align 1
  %2528 = fpext float %wide.load621666 to double
  br label %2580

2529:                                             ; preds = %.preheader148
  %2530 = icmp samesign ult i32 %2524, 3
  %2531 = select i1 %2015, i1 %2530, i1 false
  %2532 = zext nneg i32 %2524 to i64
  %2533 = getelementptr inbounds nuw i8, ptr %2523, i64 %2532
  %2534 = load i8, ptr %2533, align 1
  br i1 %2531, label %2535, label %2539

2535:                                             ; preds = %2529
  %2536 = zext i8 %2534 to i64
  %2537 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %2536
  %2538 = load double, ptr addrspace(4) %2537, align 8
  br label %2580

2539:                                             ; preds = %2529
  %2540 = uitofp i8 %2534 to double
  %2541 = fdiv double %2540, %2346
  br label %2580

2542:                                             ; preds = %.preheader148
  %2543 = zext nneg i32 %2524 to i64
  %2544 = getelementptr inbounds nuw i8, ptr %2523, i64 %2543
  %2545 = load i8, ptr %2544, align 1
  %2546 = call i8 @llvm.smax.i8(i8 %2545, i8 -127)
  %2547 = sitofp i8 %2546 to double
  br label %2580

vector.ph623:                                     ; preds = %.preheader148
  %2548 = shl nuw nsw i32 %2524, 1
  %2549 = zext nneg i32 %2548 to i64
  %2550 = getelementptr inbounds nuw i8, ptr %2523, i64 %2549
  %wide.load625665 = load i16, ptr %2550, align 1
  %2551 = uitofp i16 %wide.load625665 to double
  br label %2580

vector.ph627:                                     ; preds = %.preheader148
  %2552 = shl nuw nsw i32 %2524, 1
  %2553 = zext nneg i32 %2552 to i64
  %2554 = getelementptr inbounds nuw i8, ptr %2523, i64 %2553
  %wide.load629664 = load i16, ptr %2554, align 1
  %2555 = call i16 @llvm.smax.i16(i16 %wide.load629664, i16 -32767)
  %2556 = sitofp i16 %2555 to double
  br label %2580

vector.ph631:                                     ; preds = %.preheader148
  %2557 = shl nuw nsw i32 %2524, 1
  %2558 = zext nneg i32 %2557 to i64
  %2559 = getelementptr inbounds nuw i8, ptr %2523, i64 %2558
  %wide.load633663 = load i16, ptr %2559, align 1
  %2560 = zext i16 %wide.load633663 to i32
  %2561 = lshr i32 %2560, 10
  %2562 = and i32 %2561, 31
  %2563 = and i32 %2560, 1023
  %2564 = shl nuw nsw i32 %2562, 23
  %2565 = add nuw nsw i32 %2564, 939524096
  %2566 = shl nuw nsw i32 %2563, 13
  %2567 = icmp eq i32 %2562, 31
  %2568 = select i1 %2567, i32 2139095040, i32 %2565
  %2569 = or disjoint i32 %2568, %2566
  %2570 = icmp eq i32 %2562, 0
  %2571 = uitofp nneg i32 %2563 to float
  %2572 = fmul float %2571, 0x3E70000000000000
  %2573 = bitcast float %2572 to i32
  %2574 = select i1 %2570, i32 %2573, i32 %2569
  %2575 = sext i16 %wide.load633663 to i32
  %2576 = and i32 %2575, -2147483648
  %2577 = or disjoint i32 %2574, %2576
  %2578 = bitcast i32 %2577 to float
  %2579 = fpext float %2578 to double
  br label %2580

2580:                                             ; preds = %vector.ph631, %vector.ph627, %vector.ph623, %2542, %2539, %2535, %vector.ph619, %.preheader148
  %2581 = phi double [ %2541, %2539 ], [ %2528, %vector.ph619 ], [ %2579, %vector.ph631 ], [ %2547, %2542 ], [ %2551, %vector.ph623 ], [ %2556, %vector.ph627 ], [ %2538, %2535 ], [ 0.000000e+00, %.preheader148 ]
  %2582 = fmul double %2480, %2581
  %2583 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %2524
  %2584 = load double, ptr addrspace(5) %2583, align 8
  %2585 = fadd double %2584, %2582
  store double %2585, ptr addrspace(5) %2583, align 8
  %2586 = add nuw nsw i32 %2524, 1
  %2587 = icmp eq i32 %2586, %2344
  br i1 %2587, label %.loopexit147, label %.preheader148

.loopexit147:                                     ; preds = %2580, %vector.ph615, %2511, %2496, %.loopexit151
  %2588 = add nuw i32 %2478, 1
  %2589 = lshr i32 %2588, %559
  %2590 = icmp ne i32 %2589, 0
  %2591 = select i1 %776, i1 true, i1 %2590
  br i1 %2591, label %2475, label %2476

.preheader150:                                    ; preds = %2476, %2608
  %2592 = phi i32 [ %2610, %2608 ], [ 0, %2476 ]
  %2593 = phi double [ %2609, %2608 ], [ %2019, %2476 ]
  %2594 = phi <3 x i64> [ %2600, %2608 ], [ %2339, %2476 ]
  %2595 = shl nuw i32 1, %2592
  %2596 = and i32 %2595, %2478
  %2597 = icmp eq i32 %2596, 0
  %2598 = getelementptr inbounds %"struct.aw::(anonymous namespace)::Axis", ptr addrspace(5) %7, i32 %2592
  %.sroa.sel7.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx = select i1 %2597, i32 0, i32 8
  %.sroa.sel7.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel = getelementptr inbounds nuw i8, ptr addrspace(5) %2598, i32 %.sroa.sel7.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel.idx
  %2599 = load i64, ptr addrspace(5) %.sroa.sel7.idx.sroa.sel.idx.sroa.sel.idx.sroa.sel, align 8
  %2600 = insertelement <3 x i64> %2594, i64 %2599, i32 %2592
  br i1 %2477, label %2608, label %2601

2601:                                             ; preds = %.preheader150
  %2602 = getelementptr inbounds nuw i8, ptr addrspace(5) %2598, i32 16
  %2603 = load i32, ptr addrspace(5) %2602, align 8
  %2604 = sub i32 256, %2603
  %2605 = select i1 %2597, i32 %2604, i32 %2603
  %2606 = uitofp i32 %2605 to double
  %2607 = fmul double %2593, %2606
  br label %2608

2608:                                             ; preds = %2601, %.preheader150
  %2609 = phi double [ %2593, %.preheader150 ], [ %2607, %2601 ]
  %2610 = add nuw i32 %2592, 1
  %2611 = icmp eq i32 %2610, %559
  br i1 %2611, label %.loopexit151, label %.preheader150

.loopexit158:                                     ; preds = %.loopexit155, %2475
  %2612 = fmul double %779, 2.560000e+02
  br label %.loopexit182

.loopexit182:                                     ; preds = %.loopexit179, %.loopexit158, %1265
  %2613 = phi double [ %2612, %.loopexit158 ], [ %779, %1265 ], [ %779, %.loopexit179 ]
  switch i8 %613, label %2621 [
    i8 0, label %2614
    i8 1, label %2622
    i8 2, label %2619
    i8 3, label %2620
  ]

2614:                                             ; preds = %.loopexit182
  %2615 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %2616 = load i8, ptr %2615, align 1
  %2617 = trunc nuw i8 %2616 to i1
  %2618 = select i1 %2617, double 1.000000e+00, double 2.550000e+02
  br label %2622

2619:                                             ; preds = %.loopexit182
  br label %2622

2620:                                             ; preds = %.loopexit182
  br label %2622

2621:                                             ; preds = %.loopexit182
  br label %2622

2622:                                             ; preds = %2621, %2620, %2619, %2614, %.loopexit182
  %2623 = phi double [ 1.000000e+00, %2621 ], [ %2618, %2614 ], [ 3.276700e+04, %2620 ], [ 6.553500e+04, %2619 ], [ 1.270000e+02, %.loopexit182 ]
  %2624 = fmul double %2613, %2623
  %2625 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %2626 = load i8, ptr %2625, align 4
  %2627 = zext i8 %2626 to i32
  br label %2628

2628:                                             ; preds = %2636, %2622
  %2629 = phi i32 [ 0, %2622 ], [ %2639, %2636 ]
  %2630 = icmp samesign ult i32 %2629, %2627
  %2631 = zext nneg i32 %2629 to i64
  br i1 %2630, label %vector.ph635, label %2636

vector.ph635:                                     ; preds = %2628
  %2632 = getelementptr inbounds nuw double, ptr addrspace(5) %12, i32 %2629
  %2633 = load double, ptr addrspace(5) %2632, align 8
  %2634 = fdiv double %2633, %2624
  %2635 = fptrunc double %2634 to float
  %.cast = bitcast float %2635 to i32
  br label %2636

2636:                                             ; preds = %vector.ph635, %2628
  %2637 = phi i32 [ %.cast, %vector.ph635 ], [ 0, %2628 ]
  %2638 = getelementptr inbounds nuw i32, ptr %4, i64 %2631
  store i32 %2637, ptr %2638, align 4
  %2639 = add nuw nsw i32 %2629, 1
  %2640 = icmp eq i32 %2639, 4
  br i1 %2640, label %2641, label %2628

2641:                                             ; preds = %2636
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %12) #11
  br label %.loopexit183

.loopexit183:                                     ; preds = %746, %2641, %751
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %21) #11
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %20) #11
  br label %.loopexit

.loopexit:                                        ; preds = %.preheader, %.loopexit183, %211
  ret void
}

declare void @llvm.lifetime.start.p5(ptr addrspace(5) captures(none)) #1

declare void @llvm.lifetime.end.p5(ptr addrspace(5) captures(none)) #1

define internal fastcc void @_ZN2aw6gatherERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull readonly align 8 captures(none) dereferenceable(776) %0, ptr noundef nonnull readonly align 4 captures(none) dereferenceable(32) %1, ptr noundef readonly captures(none) %2, i64 noundef %3, ptr noundef writeonly captures(none) %4) unnamed_addr #2 {
.preheader29.preheader:
  %5 = alloca %"struct.aw::(anonymous namespace)::Target", align 8, addrspace(5)
  %6 = alloca [3 x double], align 8, addrspace(5)
  %7 = alloca %"struct.aw::(anonymous namespace)::Target", align 8, addrspace(5)
  %8 = alloca [4 x [2 x i64]], align 8, addrspace(5)
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %6) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %7) #11
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %5)
  %9 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 8
  store double 0.000000e+00, ptr addrspace(5) %9, align 8
  %10 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 16
  store double 0.000000e+00, ptr addrspace(5) %10, align 8
  %11 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 32
  store i32 0, ptr addrspace(5) %11, align 8
  %12 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 36
  store i32 0, ptr addrspace(5) %12, align 4
  %13 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 48
  %14 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 68
  store i8 0, ptr addrspace(5) %14, align 4
  %15 = getelementptr inbounds nuw i8, ptr %1, i64 4
  %16 = load i32, ptr %15, align 4
  %17 = add i32 %16, -7
  %18 = icmp ult i32 %17, -2
  switch i32 %16, label %20 [
    i32 3, label %21
    i32 0, label %21
    i32 2, label %19
  ]

19:                                               ; preds = %.preheader29.preheader
  br label %21

20:                                               ; preds = %.preheader29.preheader
  br label %21

21:                                               ; preds = %20, %19, %.preheader29.preheader, %.preheader29.preheader
  %22 = phi i32 [ 2, %20 ], [ 1, %.preheader29.preheader ], [ 1, %.preheader29.preheader ], [ 3, %19 ]
  store i32 %22, ptr addrspace(5) %5, align 8
  switch i32 %16, label %33 [
    i32 6, label %23
    i32 4, label %23
    i32 3, label %23
    i32 8, label %23
  ]

23:                                               ; preds = %21, %21, %21, %21
  %24 = load i32, ptr %2, align 4
  %25 = getelementptr inbounds nuw i32, ptr %2, i64 1
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %27 = load i32, ptr %26, align 8
  %28 = udiv i32 %27, 6
  %29 = select i1 %18, i32 %27, i32 %28
  %30 = tail call i32 @llvm.usub.sat.i32(i32 %29, i32 1)
  %31 = tail call i32 @llvm.umin.i32(i32 %30, i32 %24)
  %32 = zext i32 %31 to i64
  br label %33

33:                                               ; preds = %23, %21
  %34 = phi ptr [ %2, %21 ], [ %25, %23 ]
  %35 = phi i64 [ 0, %21 ], [ %32, %23 ]
  store i64 %35, ptr addrspace(5) %13, align 8
  %36 = select i1 %18, ptr addrspace(5) %9, ptr addrspace(5) %6
  br label %vector.ph

37:                                               ; preds = %vector.ph
  br i1 %18, label %38, label %55

38:                                               ; preds = %37
  %39 = load double, ptr addrspace(5) %9, align 8
  %40 = load double, ptr addrspace(5) %10, align 8
  %41 = load i64, ptr addrspace(5) %13, align 8
  %42 = load i8, ptr addrspace(5) %14, align 4
  %extract.t = trunc i8 %42 to i1
  br label %104

vector.ph:                                        ; preds = %vector.ph, %33
  %43 = phi i32 [ 0, %33 ], [ %51, %vector.ph ]
  %44 = phi ptr [ %34, %33 ], [ %46, %vector.ph ]
  %45 = load float, ptr %44, align 4
  %46 = getelementptr inbounds nuw i32, ptr %44, i64 1
  %47 = fpext float %45 to double
  %48 = fcmp uno float %45, 0.000000e+00
  %49 = select i1 %48, double 0.000000e+00, double %47
  %50 = getelementptr inbounds double, ptr addrspace(5) %36, i32 %43
  store double %49, ptr addrspace(5) %50, align 8
  %51 = add nuw i32 %43, 1
  %52 = load i32, ptr addrspace(5) %5, align 8
  %53 = select i1 %18, i32 %52, i32 3
  %54 = icmp ult i32 %51, %53
  br i1 %54, label %vector.ph, label %37

55:                                               ; preds = %37
  %56 = load double, ptr addrspace(5) %6, align 8
  %57 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 8
  %58 = load double, ptr addrspace(5) %57, align 8
  %59 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 16
  %60 = load double, ptr addrspace(5) %59, align 8
  %61 = tail call noundef double @llvm.fabs.f64(double %56)
  %62 = tail call noundef double @llvm.fabs.f64(double %58)
  %63 = tail call noundef double @llvm.fabs.f64(double %60)
  %64 = fcmp ult double %63, %61
  %65 = fcmp ult double %63, %62
  %66 = or i1 %64, %65
  br i1 %66, label %74, label %67

67:                                               ; preds = %55
  %68 = bitcast double %60 to i64
  %69 = icmp slt i64 %68, 0
  %70 = fneg double %56
  %71 = fneg double %58
  %72 = select i1 %69, i64 5, i64 4
  %73 = select i1 %69, double %70, double %56
  br label %89

74:                                               ; preds = %55
  %75 = fcmp ult double %62, %61
  br i1 %75, label %82, label %76

76:                                               ; preds = %74
  %77 = bitcast double %58 to i64
  %78 = icmp slt i64 %77, 0
  %79 = fneg double %60
  %80 = select i1 %78, i64 3, i64 2
  %81 = select i1 %78, double %79, double %60
  br label %89

82:                                               ; preds = %74
  %83 = bitcast double %56 to i64
  %84 = icmp slt i64 %83, 0
  %85 = fneg double %58
  %86 = fneg double %60
  %87 = lshr i64 %83, 63
  %88 = select i1 %84, double %60, double %86
  br label %89

89:                                               ; preds = %82, %76, %67
  %90 = phi i64 [ %72, %67 ], [ %80, %76 ], [ %87, %82 ]
  %91 = phi double [ %73, %67 ], [ %56, %76 ], [ %88, %82 ]
  %92 = phi double [ %71, %67 ], [ %81, %76 ], [ %85, %82 ]
  %93 = phi double [ %63, %67 ], [ %62, %76 ], [ %61, %82 ]
  %94 = fcmp ogt double %93, 0.000000e+00
  %95 = select i1 %94, double %93, double 1.000000e+00
  %96 = fdiv double %91, %95
  %97 = fadd double %96, 1.000000e+00
  %98 = fmul double %97, 5.000000e-01
  %99 = fdiv double %92, %95
  %100 = fadd double %99, 1.000000e+00
  %101 = fmul double %100, 5.000000e-01
  %102 = mul nuw nsw i64 %35, 6
  %103 = add nuw nsw i64 %90, %102
  br label %104

104:                                              ; preds = %89, %38
  %.off0 = phi i1 [ %extract.t, %38 ], [ true, %89 ]
  %105 = phi i64 [ %41, %38 ], [ %103, %89 ]
  %106 = phi double [ %40, %38 ], [ %101, %89 ]
  %107 = phi double [ %39, %38 ], [ %98, %89 ]
  %108 = load i32, ptr addrspace(5) %11, align 8
  %109 = load i32, ptr addrspace(5) %12, align 4
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %5)
  store i32 %52, ptr addrspace(5) %7, align 8
  %110 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 32
  store i32 %108, ptr addrspace(5) %110, align 8
  %111 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 36
  store i32 %109, ptr addrspace(5) %111, align 4
  %112 = getelementptr inbounds nuw i8, ptr %1, i64 17
  %113 = load i8, ptr %112, align 1
  %114 = trunc nuw i8 %113 to i1
  br i1 %114, label %.preheader28, label %117

115:                                              ; preds = %.preheader28
  %116 = load i32, ptr addrspace(5) %110, align 8
  br label %117

117:                                              ; preds = %115, %104
  %118 = phi i32 [ %116, %115 ], [ %108, %104 ]
  %119 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %120 = getelementptr inbounds nuw i8, ptr %0, i64 14
  %121 = load i8, ptr %120, align 2
  %122 = getelementptr inbounds nuw i8, ptr %0, i64 7
  %123 = load i8, ptr %122, align 1
  %124 = trunc nuw i8 %123 to i1
  %125 = select i1 %124, i1 true, i1 %.off0
  %126 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %127 = load i32, ptr %126, align 8
  %128 = zext i32 %127 to i64
  %129 = and i8 %121, -3
  %130 = icmp ne i8 %129, 0
  %131 = or i1 %130, %125
  %132 = select i1 %131, i8 %121, i8 1
  %133 = uitofp i32 %127 to double
  %134 = fmul double %107, %133
  %135 = select i1 %125, double %134, double %107
  %136 = sitofp i32 %118 to double
  %137 = fadd double %135, %136
  %138 = and i8 %132, -3
  %139 = icmp eq i8 %138, 1
  br i1 %139, label %140, label %145

140:                                              ; preds = %117
  %141 = fcmp olt double %137, -1.000000e+09
  %142 = fcmp ogt double %137, 1.000000e+09
  %143 = select i1 %142, double 1.000000e+09, double %137
  %144 = select i1 %141, double -1.000000e+09, double %143
  br label %181

145:                                              ; preds = %117
  %146 = tail call double @llvm.fabs.f64(double %137)
  %147 = fcmp ueq double %146, 0x7FF0000000000000
  br i1 %147, label %181, label %148

148:                                              ; preds = %145
  %149 = icmp eq i8 %132, 2
  %150 = zext i1 %149 to i64
  %151 = shl nuw nsw i64 %128, %150
  %152 = uitofp nneg i64 %151 to double
  %153 = fcmp ult double %146, %152
  br i1 %153, label %.loopexit27, label %.preheader26

.preheader26:                                     ; preds = %148, %.preheader26
  %154 = phi double [ %161, %.preheader26 ], [ %146, %148 ]
  %155 = fdiv double %154, %152
  %156 = fmul double %155, 0x3FEFFFFFFFFFFFFE
  %157 = tail call double @llvm.trunc.f64(double %156)
  %158 = fcmp olt double %157, 1.000000e+00
  %159 = fneg double %157
  %160 = select i1 %158, double -1.000000e+00, double %159
  %161 = tail call double @llvm.fma.f64(double %160, double %152, double %154)
  %162 = fcmp ult double %161, %152
  br i1 %162, label %.loopexit27, label %.preheader26

.loopexit27:                                      ; preds = %.preheader26, %148
  %163 = phi double [ %146, %148 ], [ %161, %.preheader26 ]
  %164 = fcmp olt double %137, 0.000000e+00
  %165 = fneg double %163
  %166 = select i1 %164, double %165, double %163
  %167 = fcmp olt double %166, 0.000000e+00
  %168 = fadd double %166, %152
  %169 = select i1 %167, double %168, double %166
  %170 = icmp ne i8 %132, 0
  %171 = fcmp ult double %169, %152
  %172 = or i1 %170, %171
  %173 = bitcast double %152 to i64
  %174 = add nsw i64 %173, -1
  %175 = bitcast i64 %174 to double
  %176 = select i1 %172, double %169, double %175
  %177 = fcmp oge double %176, %133
  %178 = select i1 %149, i1 %177, i1 false
  %179 = fsub double %152, %176
  %180 = select i1 %178, double %179, double %176
  br label %181

181:                                              ; preds = %.loopexit27, %145, %140
  %182 = phi double [ %144, %140 ], [ %180, %.loopexit27 ], [ 0.000000e+00, %145 ]
  %183 = fadd double %182, -5.000000e-01
  %184 = fmul double %183, 2.560000e+02
  %185 = fadd double %184, 5.000000e-01
  %186 = tail call noundef double @llvm.floor.f64(double %185)
  %187 = fptosi double %186 to i64
  %188 = ashr i64 %187, 8
  %189 = icmp ult i64 %188, %128
  br i1 %189, label %199, label %190

190:                                              ; preds = %181
  switch i8 %132, label %199 [
    i8 0, label %191
    i8 2, label %195
    i8 1, label %195
  ]

191:                                              ; preds = %190
  %192 = srem i64 %188, %128
  %193 = add nsw i64 %192, %128
  %194 = srem i64 %193, %128
  br label %199

195:                                              ; preds = %190, %190
  %196 = icmp slt i64 %188, 0
  %197 = add nsw i64 %128, -1
  %198 = select i1 %196, i64 0, i64 %197
  br label %199

199:                                              ; preds = %195, %191, %190, %181
  %200 = phi i64 [ %198, %195 ], [ %188, %181 ], [ %194, %191 ], [ -1, %190 ]
  %201 = add nsw i64 %188, 1
  %202 = icmp ult i64 %201, %128
  br i1 %202, label %212, label %203

203:                                              ; preds = %199
  switch i8 %132, label %212 [
    i8 0, label %204
    i8 2, label %208
    i8 1, label %208
  ]

204:                                              ; preds = %203
  %205 = srem i64 %201, %128
  %206 = add nsw i64 %205, %128
  %207 = srem i64 %206, %128
  br label %212

208:                                              ; preds = %203, %203
  %209 = icmp slt i64 %188, -1
  %210 = add nsw i64 %128, -1
  %211 = select i1 %209, i64 0, i64 %210
  br label %212

212:                                              ; preds = %208, %204, %203, %199
  %213 = phi i64 [ %211, %208 ], [ %201, %199 ], [ %207, %204 ], [ -1, %203 ]
  %214 = getelementptr inbounds nuw i8, ptr %0, i64 15
  %215 = load i8, ptr %214, align 1
  %216 = load i32, ptr addrspace(5) %111, align 4
  %217 = getelementptr inbounds nuw i8, ptr %0, i64 84
  %218 = load i32, ptr %217, align 4
  %219 = zext i32 %218 to i64
  %220 = and i8 %215, -3
  %221 = icmp ne i8 %220, 0
  %222 = or i1 %125, %221
  %223 = select i1 %222, i8 %215, i8 1
  %224 = uitofp i32 %218 to double
  %225 = fmul double %106, %224
  %226 = select i1 %125, double %225, double %106
  %227 = sitofp i32 %216 to double
  %228 = fadd double %226, %227
  %229 = and i8 %223, -3
  %230 = icmp eq i8 %229, 1
  br i1 %230, label %231, label %236

231:                                              ; preds = %212
  %232 = fcmp olt double %228, -1.000000e+09
  %233 = fcmp ogt double %228, 1.000000e+09
  %234 = select i1 %233, double 1.000000e+09, double %228
  %235 = select i1 %232, double -1.000000e+09, double %234
  br label %272

236:                                              ; preds = %212
  %237 = tail call double @llvm.fabs.f64(double %228)
  %238 = fcmp ueq double %237, 0x7FF0000000000000
  br i1 %238, label %272, label %239

239:                                              ; preds = %236
  %240 = icmp eq i8 %223, 2
  %241 = zext i1 %240 to i64
  %242 = shl nuw nsw i64 %219, %241
  %243 = uitofp nneg i64 %242 to double
  %244 = fcmp ult double %237, %243
  br i1 %244, label %.loopexit, label %.preheader

.preheader:                                       ; preds = %239, %.preheader
  %245 = phi double [ %252, %.preheader ], [ %237, %239 ]
  %246 = fdiv double %245, %243
  %247 = fmul double %246, 0x3FEFFFFFFFFFFFFE
  %248 = tail call double @llvm.trunc.f64(double %247)
  %249 = fcmp olt double %248, 1.000000e+00
  %250 = fneg double %248
  %251 = select i1 %249, double -1.000000e+00, double %250
  %252 = tail call double @llvm.fma.f64(double %251, double %243, double %245)
  %253 = fcmp ult double %252, %243
  br i1 %253, label %.loopexit, label %.preheader

.loopexit:                                        ; preds = %.preheader, %239
  %254 = phi double [ %237, %239 ], [ %252, %.preheader ]
  %255 = fcmp olt double %228, 0.000000e+00
  %256 = fneg double %254
  %257 = select i1 %255, double %256, double %254
  %258 = fcmp olt double %257, 0.000000e+00
  %259 = fadd double %257, %243
  %260 = select i1 %258, double %259, double %257
  %261 = icmp ne i8 %223, 0
  %262 = fcmp ult double %260, %243
  %263 = or i1 %261, %262
  %264 = bitcast double %243 to i64
  %265 = add nsw i64 %264, -1
  %266 = bitcast i64 %265 to double
  %267 = select i1 %263, double %260, double %266
  %268 = fcmp oge double %267, %224
  %269 = select i1 %240, i1 %268, i1 false
  %270 = fsub double %243, %267
  %271 = select i1 %269, double %270, double %267
  br label %272

272:                                              ; preds = %.loopexit, %236, %231
  %273 = phi double [ %235, %231 ], [ %271, %.loopexit ], [ 0.000000e+00, %236 ]
  %274 = fadd double %273, -5.000000e-01
  %275 = fmul double %274, 2.560000e+02
  %276 = fadd double %275, 5.000000e-01
  %277 = tail call noundef double @llvm.floor.f64(double %276)
  %278 = fptosi double %277 to i64
  %279 = ashr i64 %278, 8
  %280 = icmp ult i64 %279, %219
  br i1 %280, label %290, label %281

281:                                              ; preds = %272
  switch i8 %223, label %290 [
    i8 0, label %282
    i8 2, label %286
    i8 1, label %286
  ]

282:                                              ; preds = %281
  %283 = srem i64 %279, %219
  %284 = add nsw i64 %283, %219
  %285 = srem i64 %284, %219
  br label %290

286:                                              ; preds = %281, %281
  %287 = icmp slt i64 %279, 0
  %288 = add nsw i64 %219, -1
  %289 = select i1 %287, i64 0, i64 %288
  br label %290

290:                                              ; preds = %286, %282, %281, %272
  %291 = phi i64 [ %289, %286 ], [ %279, %272 ], [ %285, %282 ], [ -1, %281 ]
  %292 = add nsw i64 %279, 1
  %293 = icmp ult i64 %292, %219
  br i1 %293, label %303, label %294

294:                                              ; preds = %290
  switch i8 %223, label %303 [
    i8 0, label %295
    i8 2, label %299
    i8 1, label %299
  ]

295:                                              ; preds = %294
  %296 = srem i64 %292, %219
  %297 = add nsw i64 %296, %219
  %298 = srem i64 %297, %219
  br label %303

299:                                              ; preds = %294, %294
  %300 = icmp slt i64 %279, -1
  %301 = add nsw i64 %219, -1
  %302 = select i1 %300, i64 0, i64 %301
  br label %303

303:                                              ; preds = %299, %295, %294, %290
  %304 = phi i64 [ %302, %299 ], [ %292, %290 ], [ %298, %295 ], [ -1, %294 ]
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %8) #11
  store i64 %200, ptr addrspace(5) %8, align 8
  %305 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 8
  store i64 %304, ptr addrspace(5) %305, align 8
  %306 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 16
  store i64 %213, ptr addrspace(5) %306, align 8
  %307 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 24
  store i64 %304, ptr addrspace(5) %307, align 8
  %308 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 32
  store i64 %213, ptr addrspace(5) %308, align 8
  %309 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 40
  store i64 %291, ptr addrspace(5) %309, align 8
  %310 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 48
  store i64 %200, ptr addrspace(5) %310, align 8
  %311 = getelementptr inbounds nuw i8, ptr addrspace(5) %8, i32 56
  store i64 %291, ptr addrspace(5) %311, align 8
  %312 = load ptr, ptr %119, align 8
  %313 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %314 = load i64, ptr %313, align 8
  %315 = mul i64 %314, %105
  %316 = getelementptr inbounds nuw i8, ptr %312, i64 %315
  %317 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %318 = load i64, ptr %317, align 8
  %319 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %320 = load i8, ptr %319, align 1
  %321 = zext i8 %320 to i64
  %322 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes, i64 %321
  %323 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %324 = load i8, ptr %323, align 4
  %325 = zext i8 %324 to i32
  %326 = icmp ugt i8 %320, 5
  %327 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %328 = shl nuw nsw i64 1, %321
  %329 = and i64 %328, 79
  %330 = icmp ne i64 %329, 0
  %331 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %332 = getelementptr inbounds nuw i8, ptr %1, i64 12
  %333 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %341

.preheader28:                                     ; preds = %104, %.preheader28
  %334 = phi i1 [ false, %.preheader28 ], [ true, %104 ]
  %335 = phi i32 [ 1, %.preheader28 ], [ 0, %104 ]
  %336 = phi ptr [ %338, %.preheader28 ], [ %46, %104 ]
  %337 = load i32, ptr %336, align 4
  %338 = getelementptr inbounds nuw i32, ptr %336, i64 1
  %339 = getelementptr inbounds nuw i32, ptr addrspace(5) %110, i32 %335
  store i32 %337, ptr addrspace(5) %339, align 4
  br i1 %334, label %.preheader28, label %115

340:                                              ; preds = %477
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %8) #11
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %7) #11
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %6) #11
  ret void

341:                                              ; preds = %477, %303
  %342 = phi i32 [ 0, %303 ], [ %481, %477 ]
  %343 = phi <4 x i32> [ zeroinitializer, %303 ], [ %479, %477 ]
  %344 = zext nneg i32 %342 to i64
  %345 = getelementptr inbounds nuw [2 x i64], ptr addrspace(5) %8, i32 %342
  %346 = load i64, ptr addrspace(5) %345, align 8
  %347 = icmp eq i64 %346, -1
  br i1 %347, label %352, label %348

348:                                              ; preds = %341
  %349 = getelementptr inbounds nuw i8, ptr addrspace(5) %345, i32 8
  %350 = load i64, ptr addrspace(5) %349, align 8
  %351 = icmp eq i64 %350, -1
  br i1 %351, label %352, label %359

352:                                              ; preds = %348, %341
  %353 = load i32, ptr %332, align 4
  %354 = icmp ult i32 %353, %325
  br i1 %354, label %355, label %477

355:                                              ; preds = %352
  %356 = zext nneg i32 %353 to i64
  %357 = getelementptr inbounds nuw i32, ptr %333, i64 %356
  %358 = load i32, ptr %357, align 4
  br label %477

359:                                              ; preds = %348
  %360 = mul i64 %350, %318
  %361 = getelementptr inbounds nuw i8, ptr %316, i64 %360
  %362 = load i32, ptr addrspace(4) %322, align 4
  %363 = mul i32 %362, %325
  %364 = zext i32 %363 to i64
  %365 = mul i64 %346, %364
  %366 = getelementptr inbounds nuw i8, ptr %361, i64 %365
  %367 = load i8, ptr %327, align 8
  %368 = trunc nuw i8 %367 to i1
  %369 = select i1 %368, i1 %330, i1 false
  %370 = load i8, ptr %331, align 1
  %371 = trunc nuw i8 %370 to i1
  %372 = select i1 %371, double 2.550000e+02, double 1.000000e+00
  %373 = select i1 %371, double 1.000000e+00, double 2.550000e+02
  %374 = select i1 %326, i1 true, i1 %369
  br label %375

375:                                              ; preds = %468, %359
  %376 = phi <4 x i32> [ %343, %359 ], [ %470, %468 ]
  %377 = phi i32 [ 0, %359 ], [ %471, %468 ]
  %378 = icmp samesign ult i32 %377, %325
  br i1 %378, label %379, label %468

379:                                              ; preds = %375
  switch i8 %320, label %383 [
    i8 7, label %vector.ph101
    i8 4, label %vector.ph101
    i8 5, label %vector.ph101
  ]

vector.ph101:                                     ; preds = %379, %379, %379
  %380 = shl nuw nsw i32 %377, 2
  %381 = zext nneg i32 %380 to i64
  %382 = getelementptr inbounds nuw i8, ptr %366, i64 %381
  %wide.load103105 = load i32, ptr %382, align 1
  br label %468

383:                                              ; preds = %379
  br i1 %374, label %384, label %449

384:                                              ; preds = %383
  switch i8 %320, label %440 [
    i8 7, label %vector.ph77
    i8 0, label %389
    i8 1, label %402
    i8 2, label %vector.ph81
    i8 3, label %vector.ph85
    i8 6, label %vector.ph89
  ]

vector.ph77:                                      ; preds = %384
  %385 = shl nuw nsw i32 %377, 2
  %386 = zext nneg i32 %385 to i64
  %387 = getelementptr inbounds nuw i8, ptr %366, i64 %386
  %wide.load79111 = load float, ptr %387, align 1
  %388 = fpext float %wide.load79111 to double
  br label %440

389:                                              ; preds = %384
  %390 = icmp ne i32 %377, 3
  %391 = and i1 %390, %371
  %392 = zext nneg i32 %377 to i64
  %393 = getelementptr inbounds nuw i8, ptr %366, i64 %392
  %394 = load i8, ptr %393, align 1
  br i1 %391, label %395, label %399

395:                                              ; preds = %389
  %396 = zext i8 %394 to i64
  %397 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %396
  %398 = load double, ptr addrspace(4) %397, align 8
  br label %440

399:                                              ; preds = %389
  %400 = uitofp i8 %394 to double
  %401 = fdiv double %400, %372
  br label %440

402:                                              ; preds = %384
  %403 = zext nneg i32 %377 to i64
  %404 = getelementptr inbounds nuw i8, ptr %366, i64 %403
  %405 = load i8, ptr %404, align 1
  %406 = tail call i8 @llvm.smax.i8(i8 %405, i8 -127)
  %407 = sitofp i8 %406 to double
  br label %440

vector.ph81:                                      ; preds = %384
  %408 = shl nuw nsw i32 %377, 1
  %409 = zext nneg i32 %408 to i64
  %410 = getelementptr inbounds nuw i8, ptr %366, i64 %409
  %wide.load83110 = load i16, ptr %410, align 1
  %411 = uitofp i16 %wide.load83110 to double
  br label %440

vector.ph85:                                      ; preds = %384
  %412 = shl nuw nsw i32 %377, 1
  %413 = zext nneg i32 %412 to i64
  %414 = getelementptr inbounds nuw i8, ptr %366, i64 %413
  %wide.load87109 = load i16, ptr %414, align 1
  %415 = tail call i16 @llvm.smax.i16(i16 %wide.load87109, i16 -32767)
  %416 = sitofp i16 %415 to double
  br label %440

vector.ph89:                                      ; preds = %384
  %417 = shl nuw nsw i32 %377, 1
  %418 = zext nneg i32 %417 to i64
  %419 = getelementptr inbounds nuw i8, ptr %366, i64 %418
  %wide.load91108 = load i16, ptr %419, align 1
  %420 = zext i16 %wide.load91108 to i32
  %421 = lshr i32 %420, 10
  %422 = and i32 %421, 31
  %423 = and i32 %420, 1023
  %424 = shl nuw nsw i32 %422, 23
  %425 = add nuw nsw i32 %424, 939524096
  %426 = shl nuw nsw i32 %423, 13
  %427 = icmp eq i32 %422, 31
  %428 = select i1 %427, i32 2139095040, i32 %425
  %429 = or disjoint i32 %428, %426
  %430 = icmp eq i32 %422, 0
  %431 = uitofp nneg i32 %423 to float
  %432 = fmul float %431, 0x3E70000000000000
  %433 = bitcast float %432 to i32
  %434 = select i1 %430, i32 %433, i32 %429
  %435 = sext i16 %wide.load91108 to i32
  %436 = and i32 %435, -2147483648
  %437 = or disjoint i32 %434, %436
  %438 = bitcast i32 %437 to float
  %439 = fpext float %438 to double
  br label %440

440:                                              ; preds = %vector.ph89, %vector.ph85, %vector.ph81, %402, %399, %395, %vector.ph77, %384
  %441 = phi double [ %401, %399 ], [ %388, %vector.ph77 ], [ %439, %vector.ph89 ], [ %407, %402 ], [ %411, %vector.ph81 ], [ %416, %vector.ph85 ], [ %398, %395 ], [ 0.000000e+00, %384 ]
  switch i8 %320, label %445 [
    i8 0, label %442
    i8 1, label %vector.ph73
    i8 2, label %443
    i8 3, label %444
  ]

442:                                              ; preds = %440
  br label %vector.ph73

443:                                              ; preds = %440
  br label %vector.ph73

444:                                              ; preds = %440
  br label %vector.ph73

445:                                              ; preds = %440
  br label %vector.ph73

vector.ph73:                                      ; preds = %445, %444, %443, %442, %440
  %446 = phi double [ 1.000000e+00, %445 ], [ %373, %442 ], [ 3.276700e+04, %444 ], [ 6.553500e+04, %443 ], [ 1.270000e+02, %440 ]
  %447 = fdiv double %441, %446
  %448 = fptrunc double %447 to float
  %.cast = bitcast float %448 to i32
  br label %468

449:                                              ; preds = %383
  switch i8 %320, label %vector.ph93 [
    i8 0, label %450
    i8 1, label %455
    i8 2, label %vector.ph97
  ]

450:                                              ; preds = %449
  %451 = zext nneg i32 %377 to i64
  %452 = getelementptr inbounds nuw i8, ptr %366, i64 %451
  %453 = load i8, ptr %452, align 1
  %454 = zext i8 %453 to i32
  br label %468

455:                                              ; preds = %449
  %456 = zext nneg i32 %377 to i64
  %457 = getelementptr inbounds nuw i8, ptr %366, i64 %456
  %458 = load i8, ptr %457, align 1
  %459 = sext i8 %458 to i32
  br label %468

vector.ph97:                                      ; preds = %449
  %460 = shl nuw nsw i32 %377, 1
  %461 = zext nneg i32 %460 to i64
  %462 = getelementptr inbounds nuw i8, ptr %366, i64 %461
  %wide.load99106 = load i16, ptr %462, align 1
  %463 = zext i16 %wide.load99106 to i32
  br label %468

vector.ph93:                                      ; preds = %449
  %464 = shl nuw nsw i32 %377, 1
  %465 = zext nneg i32 %464 to i64
  %466 = getelementptr inbounds nuw i8, ptr %366, i64 %465
  %wide.load95107 = load i16, ptr %466, align 1
  %467 = sext i16 %wide.load95107 to i32
  br label %468

468:                                              ; preds = %vector.ph93, %vector.ph97, %455, %450, %vector.ph73, %vector.ph101, %375
  %469 = phi i32 [ %wide.load103105, %vector.ph101 ], [ %.cast, %vector.ph73 ], [ %459, %455 ], [ %467, %vector.ph93 ], [ %463, %vector.ph97 ], [ %454, %450 ], [ 0, %375 ]
  %470 = insertelement <4 x i32> %376, i32 %469, i32 %377
  %471 = add nuw nsw i32 %377, 1
  %472 = icmp eq i32 %471, 4
  br i1 %472, label %473, label %375

473:                                              ; preds = %468
  %474 = load i32, ptr %332, align 4
  %475 = and i32 %474, 3
  %476 = extractelement <4 x i32> %470, i32 %475
  br label %477

477:                                              ; preds = %473, %355, %352
  %478 = phi i32 [ %476, %473 ], [ %358, %355 ], [ 0, %352 ]
  %479 = phi <4 x i32> [ %470, %473 ], [ %343, %355 ], [ %343, %352 ]
  %480 = getelementptr inbounds nuw i32, ptr %4, i64 %344
  store i32 %478, ptr %480, align 4
  %481 = add nuw nsw i32 %342, 1
  %482 = icmp eq i32 %481, 4
  br i1 %482, label %340, label %341
}

define internal fastcc void @_ZN2aw10read_texelERKNS_11TextureViewEPKhPj(ptr noundef nonnull readonly align 8 captures(none) dereferenceable(776) %0, ptr noundef readonly captures(none) %1, ptr noundef writeonly captures(none) %2) unnamed_addr #3 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %5 = load i8, ptr %4, align 4
  %6 = zext i8 %5 to i32
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %8 = load i8, ptr %7, align 1
  %9 = icmp ugt i8 %8, 5
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load i8, ptr %10, align 8
  %12 = trunc nuw i8 %11 to i1
  %13 = zext nneg i8 %8 to i64
  %14 = shl nuw nsw i64 1, %13
  %15 = and i64 %14, 79
  %16 = icmp ne i64 %15, 0
  %17 = select i1 %12, i1 %16, i1 false
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 9
  %19 = load i8, ptr %18, align 1
  %20 = trunc nuw i8 %19 to i1
  %21 = select i1 %20, double 2.550000e+02, double 1.000000e+00
  %22 = select i1 %20, double 1.000000e+00, double 2.550000e+02
  %23 = select i1 %9, i1 true, i1 %17
  br label %25

24:                                               ; preds = %123
  ret void

25:                                               ; preds = %123, %3
  %26 = phi i32 [ 0, %3 ], [ %127, %123 ]
  %27 = icmp samesign ult i32 %26, %6
  br i1 %27, label %30, label %28

28:                                               ; preds = %25
  %29 = zext nneg i32 %26 to i64
  br label %123

30:                                               ; preds = %25
  switch i8 %8, label %35 [
    i8 7, label %vector.ph29
    i8 4, label %vector.ph29
    i8 5, label %vector.ph29
  ]

vector.ph29:                                      ; preds = %30, %30, %30
  %31 = shl nuw nsw i32 %26, 2
  %32 = zext nneg i32 %31 to i64
  %33 = getelementptr inbounds nuw i8, ptr %1, i64 %32
  %wide.load3133 = load i32, ptr %33, align 1
  %34 = zext nneg i32 %26 to i64
  br label %123

35:                                               ; preds = %30
  br i1 %23, label %36, label %102

36:                                               ; preds = %35
  switch i8 %8, label %92 [
    i8 7, label %vector.ph5
    i8 0, label %41
    i8 1, label %54
    i8 2, label %vector.ph9
    i8 3, label %vector.ph13
    i8 6, label %vector.ph17
  ]

vector.ph5:                                       ; preds = %36
  %37 = shl nuw nsw i32 %26, 2
  %38 = zext nneg i32 %37 to i64
  %39 = getelementptr inbounds nuw i8, ptr %1, i64 %38
  %wide.load739 = load float, ptr %39, align 1
  %40 = fpext float %wide.load739 to double
  br label %92

41:                                               ; preds = %36
  %42 = icmp ne i32 %26, 3
  %43 = and i1 %42, %20
  %44 = zext nneg i32 %26 to i64
  %45 = getelementptr inbounds nuw i8, ptr %1, i64 %44
  %46 = load i8, ptr %45, align 1
  br i1 %43, label %47, label %51

47:                                               ; preds = %41
  %48 = zext i8 %46 to i64
  %49 = getelementptr inbounds nuw double, ptr addrspace(4) @_ZN2aw12_GLOBAL__N_113kLinearOfSrgbE, i64 %48
  %50 = load double, ptr addrspace(4) %49, align 8
  br label %92

51:                                               ; preds = %41
  %52 = uitofp i8 %46 to double
  %53 = fdiv double %52, %21
  br label %92

54:                                               ; preds = %36
  %55 = zext nneg i32 %26 to i64
  %56 = getelementptr inbounds nuw i8, ptr %1, i64 %55
  %57 = load i8, ptr %56, align 1
  %58 = tail call i8 @llvm.smax.i8(i8 %57, i8 -127)
  %59 = sitofp i8 %58 to double
  br label %92

vector.ph9:                                       ; preds = %36
  %60 = shl nuw nsw i32 %26, 1
  %61 = zext nneg i32 %60 to i64
  %62 = getelementptr inbounds nuw i8, ptr %1, i64 %61
  %wide.load1138 = load i16, ptr %62, align 1
  %63 = uitofp i16 %wide.load1138 to double
  br label %92

vector.ph13:                                      ; preds = %36
  %64 = shl nuw nsw i32 %26, 1
  %65 = zext nneg i32 %64 to i64
  %66 = getelementptr inbounds nuw i8, ptr %1, i64 %65
  %wide.load1537 = load i16, ptr %66, align 1
  %67 = tail call i16 @llvm.smax.i16(i16 %wide.load1537, i16 -32767)
  %68 = sitofp i16 %67 to double
  br label %92

vector.ph17:                                      ; preds = %36
  %69 = shl nuw nsw i32 %26, 1
  %70 = zext nneg i32 %69 to i64
  %71 = getelementptr inbounds nuw i8, ptr %1, i64 %70
  %wide.load1936 = load i16, ptr %71, align 1
  %72 = zext i16 %wide.load1936 to i32
  %73 = lshr i32 %72, 10
  %74 = and i32 %73, 31
  %75 = and i32 %72, 1023
  %76 = shl nuw nsw i32 %74, 23
  %77 = add nuw nsw i32 %76, 939524096
  %78 = shl nuw nsw i32 %75, 13
  %79 = icmp eq i32 %74, 31
  %80 = select i1 %79, i32 2139095040, i32 %77
  %81 = or disjoint i32 %80, %78
  %82 = icmp eq i32 %74, 0
  %83 = uitofp nneg i32 %75 to float
  %84 = fmul float %83, 0x3E70000000000000
  %85 = bitcast float %84 to i32
  %86 = select i1 %82, i32 %85, i32 %81
  %87 = sext i16 %wide.load1936 to i32
  %88 = and i32 %87, -2147483648
  %89 = or disjoint i32 %86, %88
  %90 = bitcast i32 %89 to float
  %91 = fpext float %90 to double
  br label %92

92:                                               ; preds = %vector.ph17, %vector.ph13, %vector.ph9, %54, %51, %47, %vector.ph5, %36
  %93 = phi double [ %53, %51 ], [ %40, %vector.ph5 ], [ %91, %vector.ph17 ], [ %59, %54 ], [ %63, %vector.ph9 ], [ %68, %vector.ph13 ], [ %50, %47 ], [ 0.000000e+00, %36 ]
  switch i8 %8, label %97 [
    i8 0, label %94
    i8 1, label %vector.ph
    i8 2, label %95
    i8 3, label %96
  ]

94:                                               ; preds = %92
  br label %vector.ph

95:                                               ; preds = %92
  br label %vector.ph

96:                                               ; preds = %92
  br label %vector.ph

97:                                               ; preds = %92
  br label %vector.ph

vector.ph:                                        ; preds = %97, %96, %95, %94, %92
  %98 = phi double [ 1.000000e+00, %97 ], [ %22, %94 ], [ 3.276700e+04, %96 ], [ 6.553500e+04, %95 ], [ 1.270000e+02, %92 ]
  %99 = fdiv double %93, %98
  %100 = fptrunc double %99 to float
  %.cast = bitcast float %100 to i32
  %101 = zext nneg i32 %26 to i64
  br label %123

102:                                              ; preds = %35
  switch i8 %8, label %vector.ph21 [
    i8 0, label %103
    i8 1, label %108
    i8 2, label %vector.ph25
  ]

103:                                              ; preds = %102
  %104 = zext nneg i32 %26 to i64
  %105 = getelementptr inbounds nuw i8, ptr %1, i64 %104
  %106 = load i8, ptr %105, align 1
  %107 = zext i8 %106 to i32
  br label %123

108:                                              ; preds = %102
  %109 = zext nneg i32 %26 to i64
  %110 = getelementptr inbounds nuw i8, ptr %1, i64 %109
  %111 = load i8, ptr %110, align 1
  %112 = sext i8 %111 to i32
  br label %123

vector.ph25:                                      ; preds = %102
  %113 = shl nuw nsw i32 %26, 1
  %114 = zext nneg i32 %113 to i64
  %115 = getelementptr inbounds nuw i8, ptr %1, i64 %114
  %wide.load2734 = load i16, ptr %115, align 1
  %116 = zext i16 %wide.load2734 to i32
  %117 = zext nneg i32 %26 to i64
  br label %123

vector.ph21:                                      ; preds = %102
  %118 = shl nuw nsw i32 %26, 1
  %119 = zext nneg i32 %118 to i64
  %120 = getelementptr inbounds nuw i8, ptr %1, i64 %119
  %wide.load2335 = load i16, ptr %120, align 1
  %121 = sext i16 %wide.load2335 to i32
  %122 = zext nneg i32 %26 to i64
  br label %123

123:                                              ; preds = %vector.ph21, %vector.ph25, %108, %103, %vector.ph, %vector.ph29, %28
  %124 = phi i64 [ %29, %28 ], [ %101, %vector.ph ], [ %109, %108 ], [ %122, %vector.ph21 ], [ %117, %vector.ph25 ], [ %104, %103 ], [ %34, %vector.ph29 ]
  %125 = phi i32 [ 0, %28 ], [ %.cast, %vector.ph ], [ %112, %108 ], [ %121, %vector.ph21 ], [ %116, %vector.ph25 ], [ %107, %103 ], [ %wide.load3133, %vector.ph29 ]
  %126 = getelementptr inbounds nuw i32, ptr %2, i64 %124
  store i32 %125, ptr %126, align 4
  %127 = add nuw nsw i32 %26, 1
  %128 = icmp eq i32 %127, 4
  br i1 %128, label %24, label %25
}

declare double @llvm.fabs.f64(double) #4

declare { double, i32 } @llvm.frexp.f64.i32(double) #4

declare float @llvm.log2.f32(float) #4

declare double @llvm.ldexp.f64.i32(double, i32) #4

declare double @llvm.floor.f64(double) #4

declare double @llvm.trunc.f64(double) #4

declare double @llvm.fma.f64(double, double, double) #4

declare i32 @llvm.usub.sat.i32(i32, i32) #4

declare i32 @llvm.umin.i32(i32, i32) #4

declare i16 @llvm.smax.i16(i16, i16) #4

declare i8 @llvm.smax.i8(i8, i8) #4

declare void @llvm.memset.p5.i64(ptr addrspace(5) writeonly captures(none), i8, i64, i1 immarg) #5

declare i64 @llvm.smin.i64(i64, i64) #4

define internal fastcc noundef ptr @_ZN2aw14access_surfaceERKNS_11TextureViewERKNS_11TextureFormEPKjmPjm(ptr noundef nonnull readonly align 8 captures(none) dereferenceable(776) %0, ptr noundef nonnull readonly align 4 captures(none) dereferenceable(32) %1, ptr noundef readonly captures(none) %2, ptr noundef writeonly captures(none) %3) unnamed_addr #6 {
  %5 = alloca i32, align 4, addrspace(5)
  %6 = alloca i32, align 4, addrspace(5)
  %7 = load i32, ptr %1, align 4
  %8 = icmp eq i32 %7, 4
  %9 = icmp eq i32 %7, 6
  br i1 %8, label %10, label %21

10:                                               ; preds = %4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %12 = load i8, ptr %11, align 1
  %13 = zext i8 %12 to i64
  %14 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes.1, i64 %13
  %15 = load i32, ptr addrspace(4) %14, align 4
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %17 = load i8, ptr %16, align 4
  %18 = zext i8 %17 to i32
  %19 = mul i32 %15, %18
  %20 = zext i32 %19 to i64
  br label %39

21:                                               ; preds = %4
  %22 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %23 = load i32, ptr %22, align 4
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %26 = load i32, ptr %25, align 4
  %27 = zext i32 %26 to i64
  %28 = mul nuw i64 %27, %24
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %30 = load i8, ptr %29, align 1
  %31 = zext i8 %30 to i64
  %32 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes.1, i64 %31
  %33 = load i32, ptr addrspace(4) %32, align 4
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %35 = load i8, ptr %34, align 4
  %36 = zext i8 %35 to i32
  %37 = mul i32 %33, %36
  %38 = zext i32 %37 to i64
  br label %39

39:                                               ; preds = %21, %10
  %40 = phi i64 [ %38, %21 ], [ %20, %10 ]
  %41 = phi i8 [ %35, %21 ], [ %17, %10 ]
  %42 = phi i32 [ %33, %21 ], [ %15, %10 ]
  %43 = phi i8 [ %30, %21 ], [ %12, %10 ]
  %44 = phi i64 [ %28, %21 ], [ %20, %10 ]
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %46 = getelementptr inbounds nuw i8, ptr %1, i64 4
  %47 = load i32, ptr %46, align 4
  %48 = icmp eq i32 %47, 4
  %49 = add i32 %47, -3
  %50 = icmp ult i32 %49, 2
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %52 = load i32, ptr %51, align 8
  %53 = freeze i32 %52
  %54 = zext i32 %53 to i64
  %55 = getelementptr inbounds nuw i8, ptr %0, i64 11
  %56 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %57 = mul nuw i64 %40, %54
  %58 = sub i64 %57, %44
  %59 = insertelement <3 x i64> poison, i64 %58, i64 0
  %60 = getelementptr inbounds nuw i8, ptr %0, i64 84
  %61 = load i32, ptr %60, align 4
  %62 = add i32 %61, -1
  %63 = zext i32 %62 to i64
  %64 = insertelement <3 x i64> %59, i64 %63, i64 1
  %65 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %66 = load i32, ptr %65, align 8
  %67 = add i32 %66, -1
  %68 = zext i32 %67 to i64
  %69 = insertelement <3 x i64> %64, i64 %68, i64 2
  br i1 %50, label %70, label %80

70:                                               ; preds = %39
  %71 = load i32, ptr %2, align 4
  %72 = getelementptr inbounds nuw i8, ptr %2, i64 4
  %73 = zext i32 %71 to i64
  %74 = insertelement <3 x i64> <i64 0, i64 0, i64 poison>, i64 %73, i64 2
  %75 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %76 = load i32, ptr %75, align 8
  %77 = tail call i32 @llvm.usub.sat.i32(i32 %76, i32 1)
  %78 = zext i32 %77 to i64
  %79 = insertelement <3 x i64> %69, i64 %78, i64 2
  br label %80

80:                                               ; preds = %70, %39
  %81 = phi <3 x i64> [ %79, %70 ], [ %69, %39 ]
  %82 = phi ptr [ %72, %70 ], [ %2, %39 ]
  %83 = phi <3 x i64> [ %74, %70 ], [ zeroinitializer, %39 ]
  %84 = icmp eq i32 %47, 2
  %85 = icmp eq i32 %47, 1
  %86 = or i1 %85, %48
  %87 = select i1 %86, i32 2, i32 1
  %88 = select i1 %84, i32 3, i32 %87
  br label %90

89:                                               ; preds = %90
  switch i32 %7, label %104 [
    i32 6, label %100
    i32 4, label %100
  ]

90:                                               ; preds = %90, %80
  %91 = phi i32 [ 0, %80 ], [ %98, %90 ]
  %92 = phi <3 x i64> [ %83, %80 ], [ %97, %90 ]
  %93 = phi ptr [ %82, %80 ], [ %95, %90 ]
  %94 = load i32, ptr %93, align 4
  %95 = getelementptr inbounds nuw i8, ptr %93, i64 4
  %96 = sext i32 %94 to i64
  %97 = insertelement <3 x i64> %92, i64 %96, i32 %91
  %98 = add nuw nsw i32 %91, 1
  %99 = icmp eq i32 %98, %88
  br i1 %99, label %89, label %90

100:                                              ; preds = %89, %89
  %101 = extractelement <3 x i64> %97, i64 0
  %102 = mul nsw i64 %101, %40
  %103 = insertelement <3 x i64> %97, i64 %102, i64 0
  br label %104

104:                                              ; preds = %100, %89
  %105 = phi <3 x i64> [ %103, %100 ], [ %97, %89 ]
  %106 = extractelement <3 x i64> %105, i64 0
  %107 = srem i64 %106, %44
  %108 = icmp eq i64 %107, 0
  br i1 %108, label %109, label %162

109:                                              ; preds = %104
  %110 = icmp slt i64 %58, 0
  br label %116

111:                                              ; preds = %116
  %112 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %113 = load i32, ptr %112, align 4
  %114 = icmp eq i32 %113, 0
  %115 = select i1 %124, i1 %114, i1 false
  br i1 %115, label %162, label %127

116:                                              ; preds = %116, %109
  %117 = phi i32 [ 0, %109 ], [ %125, %116 ]
  %118 = phi i1 [ %110, %109 ], [ %124, %116 ]
  %119 = extractelement <3 x i64> %105, i32 %117
  %120 = icmp slt i64 %119, 0
  %121 = extractelement <3 x i64> %81, i32 %117
  %122 = icmp sgt i64 %119, %121
  %123 = select i1 %120, i1 true, i1 %122
  %124 = or i1 %118, %123
  %125 = add nuw nsw i32 %117, 1
  %126 = icmp eq i32 %125, 3
  br i1 %126, label %111, label %116

127:                                              ; preds = %111
  %128 = icmp eq i32 %113, 2
  %129 = select i1 %128, i1 true, i1 %110
  %130 = select i1 %124, i1 %129, i1 false
  br i1 %130, label %162, label %131

131:                                              ; preds = %127
  %132 = icmp sgt i64 %106, %58
  br i1 %132, label %133, label %.preheader17

.preheader17:                                     ; preds = %133, %131
  %.ph = phi <3 x i64> [ %105, %131 ], [ %136, %133 ]
  br label %151

133:                                              ; preds = %131
  %134 = srem i64 %58, %44
  %135 = sub nsw i64 %58, %134
  %136 = insertelement <3 x i64> %105, i64 %135, i64 0
  br label %.preheader17

137:                                              ; preds = %151
  %138 = load ptr, ptr %45, align 8
  %139 = extractelement <3 x i64> %159, i64 2
  %140 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %141 = load i64, ptr %140, align 8
  %142 = mul nsw i64 %141, %139
  %143 = getelementptr inbounds i8, ptr %138, i64 %142
  %144 = extractelement <3 x i64> %159, i64 1
  %145 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %146 = load i64, ptr %145, align 8
  %147 = mul nsw i64 %146, %144
  %148 = getelementptr inbounds i8, ptr %143, i64 %147
  %149 = extractelement <3 x i64> %159, i64 0
  %150 = getelementptr inbounds i8, ptr %148, i64 %149
  br label %162

151:                                              ; preds = %.preheader17, %151
  %152 = phi i32 [ %160, %151 ], [ 0, %.preheader17 ]
  %153 = phi <3 x i64> [ %159, %151 ], [ %.ph, %.preheader17 ]
  %154 = extractelement <3 x i64> %153, i32 %152
  %155 = extractelement <3 x i64> %81, i32 %152
  %156 = icmp slt i64 %154, 0
  %157 = tail call i64 @llvm.smin.i64(i64 %155, i64 %154)
  %158 = select i1 %156, i64 0, i64 %157
  %159 = insertelement <3 x i64> %153, i64 %158, i32 %152
  %160 = add nuw nsw i32 %152, 1
  %161 = icmp eq i32 %160, 3
  br i1 %161, label %137, label %151

162:                                              ; preds = %137, %127, %111, %104
  %163 = phi ptr [ null, %104 ], [ %150, %137 ], [ null, %111 ], [ null, %127 ]
  %164 = phi ptr addrspace(4) [ @.str, %104 ], [ addrspacecast (ptr null to ptr addrspace(4)), %137 ], [ @.str.1, %111 ], [ addrspacecast (ptr null to ptr addrspace(4)), %127 ]
  %165 = icmp eq ptr addrspace(4) %164, addrspacecast (ptr null to ptr addrspace(4))
  br i1 %165, label %166, label %.loopexit

166:                                              ; preds = %162
  %167 = icmp eq i32 %7, 2
  br i1 %167, label %168, label %205

168:                                              ; preds = %166
  %169 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %170 = load i32, ptr %169, align 4
  %171 = icmp eq i32 %170, 8
  %172 = zext i1 %171 to i32
  %173 = lshr i32 %170, %172
  %174 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %175 = load i32, ptr %174, align 4
  %176 = shl i32 %175, %172
  %177 = icmp eq i32 %176, 0
  br i1 %177, label %.loopexit, label %178

178:                                              ; preds = %168
  %179 = icmp eq ptr %163, null
  %180 = zext i32 %173 to i64
  %181 = icmp eq i32 %173, 0
  br label %182

182:                                              ; preds = %197, %178
  %183 = phi i32 [ 0, %178 ], [ %201, %197 ]
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %6) #11
  store i32 0, ptr addrspace(5) %6, align 4
  br i1 %179, label %197, label %184

184:                                              ; preds = %182
  %185 = mul i32 %183, %173
  %186 = zext i32 %185 to i64
  %187 = getelementptr inbounds nuw i8, ptr %163, i64 %186
  br i1 %181, label %197, label %.preheader

.preheader:                                       ; preds = %184, %.preheader
  %188 = phi i64 [ %193, %.preheader ], [ 0, %184 ]
  %189 = getelementptr inbounds nuw i8, ptr %187, i64 %188
  %190 = load i8, ptr %189, align 1
  %191 = trunc nsw i64 %188 to i32
  %192 = getelementptr inbounds i8, ptr addrspace(5) %6, i32 %191
  store i8 %190, ptr addrspace(5) %192, align 1
  %193 = add nuw nsw i64 %188, 1
  %194 = icmp eq i64 %193, %180
  br i1 %194, label %195, label %.preheader

195:                                              ; preds = %.preheader
  %196 = load i32, ptr addrspace(5) %6, align 4
  br label %197

197:                                              ; preds = %195, %184, %182
  %198 = phi i32 [ %196, %195 ], [ 0, %184 ], [ 0, %182 ]
  %199 = zext i32 %183 to i64
  %200 = getelementptr inbounds nuw i32, ptr %3, i64 %199
  store i32 %198, ptr %200, align 4
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %6) #11
  %201 = add nuw i32 %183, 1
  %202 = load i32, ptr %174, align 4
  %203 = shl i32 %202, %172
  %204 = icmp ult i32 %201, %203
  br i1 %204, label %182, label %.loopexit

205:                                              ; preds = %166
  %206 = icmp eq ptr %163, null
  br i1 %206, label %.loopexit, label %207

207:                                              ; preds = %205
  %208 = icmp eq i32 %7, 3
  br i1 %208, label %209, label %243

209:                                              ; preds = %207
  %210 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %211 = load i32, ptr %210, align 4
  %212 = icmp eq i32 %211, 8
  %213 = zext i1 %212 to i32
  %214 = lshr i32 %211, %213
  %215 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %216 = load i32, ptr %215, align 4
  %217 = shl i32 %216, %213
  %218 = icmp eq i32 %217, 0
  br i1 %218, label %.loopexit, label %219

219:                                              ; preds = %209
  %220 = zext i32 %214 to i64
  %221 = icmp eq i32 %214, 0
  br label %222

222:                                              ; preds = %238, %219
  %223 = phi i32 [ %216, %219 ], [ %239, %238 ]
  %224 = phi i32 [ 0, %219 ], [ %240, %238 ]
  %225 = mul i32 %224, %214
  %226 = zext i32 %225 to i64
  %227 = getelementptr inbounds nuw i8, ptr %163, i64 %226
  %228 = zext i32 %224 to i64
  %229 = getelementptr inbounds nuw i32, ptr %95, i64 %228
  br i1 %221, label %238, label %.preheader11

.preheader11:                                     ; preds = %222, %.preheader11
  %230 = phi i64 [ %234, %.preheader11 ], [ 0, %222 ]
  %231 = getelementptr inbounds nuw i8, ptr %229, i64 %230
  %232 = load i8, ptr %231, align 1
  %233 = getelementptr inbounds nuw i8, ptr %227, i64 %230
  store i8 %232, ptr %233, align 1
  %234 = add nuw nsw i64 %230, 1
  %235 = icmp eq i64 %234, %220
  br i1 %235, label %236, label %.preheader11

236:                                              ; preds = %.preheader11
  %237 = load i32, ptr %215, align 4
  br label %238

238:                                              ; preds = %236, %222
  %239 = phi i32 [ %237, %236 ], [ %223, %222 ]
  %240 = add nuw i32 %224, 1
  %241 = shl i32 %239, %213
  %242 = icmp ult i32 %240, %241
  br i1 %242, label %222, label %.loopexit

243:                                              ; preds = %207
  br i1 %8, label %244, label %365

244:                                              ; preds = %243
  %245 = icmp eq i8 %41, 0
  br i1 %245, label %.loopexit, label %246

246:                                              ; preds = %244
  %247 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %248 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %249 = zext i32 %42 to i64
  br label %250

250:                                              ; preds = %360, %246
  %251 = phi i32 [ 0, %246 ], [ %361, %360 ]
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %5) #11
  %252 = load i32, ptr %247, align 4
  %253 = icmp ult i32 %251, %252
  br i1 %253, label %254, label %347

254:                                              ; preds = %250
  %255 = zext nneg i32 %251 to i64
  %256 = getelementptr inbounds nuw i32, ptr %95, i64 %255
  %257 = load i32, ptr %256, align 4
  %258 = load i8, ptr %55, align 1
  %259 = zext i8 %258 to i64
  %260 = getelementptr inbounds nuw i32, ptr addrspace(4) @__const._ZN2aw13channel_bytesENS_7ChannelE.kBytes.1, i64 %259
  %261 = load i32, ptr addrspace(4) %260, align 4
  %262 = shl i32 %261, 3
  %263 = zext i32 %262 to i64
  %264 = icmp ult i8 %258, 6
  %265 = trunc i8 %258 to i1
  %266 = and i1 %264, %265
  %267 = icmp eq i8 %258, 6
  br i1 %267, label %268, label %311

268:                                              ; preds = %254
  %269 = lshr i32 %257, 16
  %270 = trunc nuw i32 %269 to i16
  %271 = and i16 %270, -32768
  %272 = and i32 %257, 2147483647
  %273 = icmp samesign ugt i32 %272, 2139095040
  br i1 %273, label %274, label %281

274:                                              ; preds = %268
  %275 = and i32 %269, 32768
  %276 = lshr i32 %257, 13
  %277 = and i32 %276, 511
  %278 = or disjoint i32 %275, %277
  %279 = trunc nuw i32 %278 to i16
  %280 = or disjoint i16 %279, 32256
  br label %308

281:                                              ; preds = %268
  %282 = icmp eq i32 %272, 2139095040
  br i1 %282, label %283, label %285

283:                                              ; preds = %281
  %284 = and i16 %270, -1024
  br label %308

285:                                              ; preds = %281
  %286 = icmp samesign ugt i32 %272, 1199570943
  br i1 %286, label %287, label %289

287:                                              ; preds = %285
  %288 = or disjoint i16 %271, 31743
  br label %308

289:                                              ; preds = %285
  %290 = icmp samesign ugt i32 %272, 947912703
  br i1 %290, label %291, label %297

291:                                              ; preds = %289
  %292 = and i32 %269, 32768
  %293 = add i32 %257, 134217728
  %294 = lshr i32 %293, 13
  %295 = or i32 %292, %294
  %296 = trunc i32 %295 to i16
  br label %308

297:                                              ; preds = %289
  %298 = icmp samesign ult i32 %272, 864026624
  br i1 %298, label %308, label %299

299:                                              ; preds = %297
  %300 = lshr i32 %272, 23
  %301 = and i32 %269, 32768
  %302 = and i32 %257, 8388607
  %303 = or disjoint i32 %302, 8388608
  %304 = sub nuw nsw i32 126, %300
  %305 = lshr i32 %303, %304
  %306 = or i32 %305, %301
  %307 = trunc nuw i32 %306 to i16
  br label %308

308:                                              ; preds = %299, %297, %291, %287, %283, %274
  %309 = phi i16 [ %280, %274 ], [ %284, %283 ], [ %288, %287 ], [ %296, %291 ], [ %307, %299 ], [ %271, %297 ]
  %310 = zext i16 %309 to i32
  br label %347

311:                                              ; preds = %254
  %312 = icmp eq i8 %258, 7
  %313 = icmp eq i32 %262, 32
  %314 = or i1 %312, %313
  br i1 %314, label %347, label %315

315:                                              ; preds = %311
  %316 = sext i1 %266 to i64
  %317 = add nsw i64 %316, %263
  %318 = shl nsw i64 -1, %317
  %319 = xor i64 %318, -1
  %320 = select i1 %266, i64 %318, i64 0
  %321 = load i8, ptr %248, align 8
  %322 = trunc nuw i8 %321 to i1
  br i1 %322, label %vector.ph, label %337

vector.ph:                                        ; preds = %315
  %.cast = bitcast i32 %257 to float
  %323 = fcmp uno float %.cast, 0.000000e+00
  br i1 %323, label %344, label %324

324:                                              ; preds = %vector.ph
  %325 = fpext float %.cast to double
  %326 = ashr i64 %320, 63
  %327 = trunc nsw i64 %326 to i32
  %328 = sitofp i32 %327 to double
  %329 = fcmp olt double %325, %328
  %330 = fcmp ogt double %325, 1.000000e+00
  %331 = select i1 %330, double 1.000000e+00, double %325
  %332 = select i1 %329, double %328, double %331
  %333 = uitofp nneg i64 %319 to double
  %334 = fmul double %332, %333
  %335 = tail call noundef double @llvm.rint.f64(double %334)
  %336 = fptosi double %335 to i64
  br label %344

337:                                              ; preds = %315
  %338 = sext i32 %257 to i64
  %339 = zext i32 %257 to i64
  %340 = select i1 %266, i64 %338, i64 %339
  %341 = icmp slt i64 %340, %320
  %342 = tail call i64 @llvm.smin.i64(i64 %340, i64 %319)
  %343 = select i1 %341, i64 %320, i64 %342
  br label %344

344:                                              ; preds = %337, %324, %vector.ph
  %345 = phi i64 [ %343, %337 ], [ %336, %324 ], [ 0, %vector.ph ]
  %346 = trunc i64 %345 to i32
  br label %347

347:                                              ; preds = %344, %311, %308, %250
  %348 = phi i32 [ 0, %250 ], [ %310, %308 ], [ %346, %344 ], [ %257, %311 ]
  store i32 %348, ptr addrspace(5) %5, align 4
  %349 = mul i32 %251, %42
  %350 = zext i32 %349 to i64
  %351 = getelementptr inbounds nuw i8, ptr %163, i64 %350
  br label %352

352:                                              ; preds = %352, %347
  %353 = phi i64 [ %358, %352 ], [ 0, %347 ]
  %354 = trunc nsw i64 %353 to i32
  %355 = getelementptr inbounds i8, ptr addrspace(5) %5, i32 %354
  %356 = load i8, ptr addrspace(5) %355, align 1
  %357 = getelementptr inbounds nuw i8, ptr %351, i64 %353
  store i8 %356, ptr %357, align 1
  %358 = add nuw i64 %353, 1
  %359 = icmp eq i64 %358, %249
  br i1 %359, label %360, label %352

360:                                              ; preds = %352
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %5) #11
  %361 = add nuw nsw i32 %251, 1
  %362 = load i8, ptr %56, align 4
  %363 = zext i8 %362 to i32
  %364 = icmp samesign ult i32 %361, %363
  br i1 %364, label %250, label %.loopexit

365:                                              ; preds = %243
  %366 = load i32, ptr %95, align 4
  %367 = zext i32 %366 to i64
  %368 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %369 = load i32, ptr %368, align 4
  %370 = icmp eq i32 %369, 8
  br i1 %370, label %371, label %377

371:                                              ; preds = %365
  %372 = getelementptr inbounds nuw i8, ptr %93, i64 8
  %373 = load i32, ptr %372, align 4
  %374 = zext i32 %373 to i64
  %375 = shl nuw i64 %374, 32
  %376 = or disjoint i64 %375, %367
  br label %377

377:                                              ; preds = %371, %365
  %378 = phi i64 [ %376, %371 ], [ %367, %365 ]
  br i1 %9, label %379, label %383

379:                                              ; preds = %377
  %380 = icmp ult i8 %43, 6
  %381 = trunc i8 %43 to i1
  %382 = and i1 %380, %381
  br label %388

383:                                              ; preds = %377
  %384 = getelementptr inbounds nuw i8, ptr %1, i64 28
  %385 = load i32, ptr %384, align 4
  %386 = and i32 %385, -3
  %387 = icmp eq i32 %386, 1
  br label %388

388:                                              ; preds = %383, %379
  %389 = phi i1 [ %387, %383 ], [ %382, %379 ]
  %390 = and i1 %370, %389
  %391 = getelementptr inbounds nuw i8, ptr %1, i64 12
  %392 = load i32, ptr %391, align 4
  br i1 %390, label %393, label %414

393:                                              ; preds = %388
  %394 = load atomic i64, ptr %163 monotonic, align 8
  br label %395

395:                                              ; preds = %409, %393
  %396 = phi i64 [ %394, %393 ], [ %413, %409 ]
  switch i32 %392, label %407 [
    i32 0, label %397
    i32 3, label %399
    i32 4, label %401
    i32 2, label %405
    i32 1, label %403
  ]

397:                                              ; preds = %395
  %398 = add i64 %396, %378
  br label %409

399:                                              ; preds = %395
  %400 = and i64 %396, %378
  br label %409

401:                                              ; preds = %395
  %402 = or i64 %396, %378
  br label %409

403:                                              ; preds = %395
  %404 = tail call i64 @llvm.smin.i64(i64 %378, i64 %396)
  br label %409

405:                                              ; preds = %395
  %406 = tail call i64 @llvm.smax.i64(i64 %396, i64 %378)
  br label %409

407:                                              ; preds = %395
  %408 = or i64 %396, %378
  br label %409

409:                                              ; preds = %407, %405, %403, %401, %399, %397
  %410 = phi i64 [ %400, %399 ], [ %402, %401 ], [ %398, %397 ], [ %408, %407 ], [ %406, %405 ], [ %404, %403 ]
  %411 = cmpxchg weak ptr %163, i64 %396, i64 %410 monotonic monotonic, align 8
  %412 = extractvalue { i64, i1 } %411, 1
  %413 = extractvalue { i64, i1 } %411, 0
  br i1 %412, label %.loopexit, label %395

414:                                              ; preds = %388
  br i1 %370, label %415, label %436

415:                                              ; preds = %414
  %416 = load atomic i64, ptr %163 monotonic, align 8
  br label %417

417:                                              ; preds = %431, %415
  %418 = phi i64 [ %416, %415 ], [ %435, %431 ]
  switch i32 %392, label %429 [
    i32 0, label %419
    i32 3, label %421
    i32 4, label %423
    i32 2, label %427
    i32 1, label %425
  ]

419:                                              ; preds = %417
  %420 = add i64 %418, %378
  br label %431

421:                                              ; preds = %417
  %422 = and i64 %418, %378
  br label %431

423:                                              ; preds = %417
  %424 = or i64 %418, %378
  br label %431

425:                                              ; preds = %417
  %426 = tail call i64 @llvm.umin.i64(i64 %378, i64 %418)
  br label %431

427:                                              ; preds = %417
  %428 = tail call i64 @llvm.umax.i64(i64 %418, i64 %378)
  br label %431

429:                                              ; preds = %417
  %430 = or i64 %418, %378
  br label %431

431:                                              ; preds = %429, %427, %425, %423, %421, %419
  %432 = phi i64 [ %422, %421 ], [ %424, %423 ], [ %420, %419 ], [ %430, %429 ], [ %428, %427 ], [ %426, %425 ]
  %433 = cmpxchg weak ptr %163, i64 %418, i64 %432 monotonic monotonic, align 8
  %434 = extractvalue { i64, i1 } %433, 1
  %435 = extractvalue { i64, i1 } %433, 0
  br i1 %434, label %.loopexit, label %417

436:                                              ; preds = %414
  %437 = load atomic i32, ptr %163 monotonic, align 4
  %438 = trunc i64 %378 to i32
  br i1 %389, label %.preheader16, label %.preheader18

.preheader16:                                     ; preds = %436, %452
  %439 = phi i32 [ %456, %452 ], [ %437, %436 ]
  switch i32 %392, label %450 [
    i32 0, label %440
    i32 3, label %442
    i32 4, label %444
    i32 2, label %448
    i32 1, label %446
  ]

440:                                              ; preds = %.preheader16
  %441 = add i32 %439, %438
  br label %452

442:                                              ; preds = %.preheader16
  %443 = and i32 %439, %438
  br label %452

444:                                              ; preds = %.preheader16
  %445 = or i32 %439, %438
  br label %452

446:                                              ; preds = %.preheader16
  %447 = tail call i32 @llvm.smin.i32(i32 %438, i32 %439)
  br label %452

448:                                              ; preds = %.preheader16
  %449 = tail call i32 @llvm.smax.i32(i32 %439, i32 %438)
  br label %452

450:                                              ; preds = %.preheader16
  %451 = or i32 %439, %438
  br label %452

452:                                              ; preds = %450, %448, %446, %444, %442, %440
  %453 = phi i32 [ %443, %442 ], [ %445, %444 ], [ %441, %440 ], [ %451, %450 ], [ %449, %448 ], [ %447, %446 ]
  %454 = cmpxchg weak ptr %163, i32 %439, i32 %453 monotonic monotonic, align 4
  %455 = extractvalue { i32, i1 } %454, 1
  %456 = extractvalue { i32, i1 } %454, 0
  br i1 %455, label %.loopexit, label %.preheader16

.preheader18:                                     ; preds = %436, %470
  %457 = phi i32 [ %474, %470 ], [ %437, %436 ]
  switch i32 %392, label %468 [
    i32 0, label %458
    i32 3, label %460
    i32 4, label %462
    i32 2, label %466
    i32 1, label %464
  ]

458:                                              ; preds = %.preheader18
  %459 = add i32 %457, %438
  br label %470

460:                                              ; preds = %.preheader18
  %461 = and i32 %457, %438
  br label %470

462:                                              ; preds = %.preheader18
  %463 = or i32 %457, %438
  br label %470

464:                                              ; preds = %.preheader18
  %465 = tail call i32 @llvm.umin.i32(i32 %438, i32 %457)
  br label %470

466:                                              ; preds = %.preheader18
  %467 = tail call i32 @llvm.umax.i32(i32 %457, i32 %438)
  br label %470

468:                                              ; preds = %.preheader18
  %469 = or i32 %457, %438
  br label %470

470:                                              ; preds = %468, %466, %464, %462, %460, %458
  %471 = phi i32 [ %461, %460 ], [ %463, %462 ], [ %459, %458 ], [ %469, %468 ], [ %467, %466 ], [ %465, %464 ]
  %472 = cmpxchg weak ptr %163, i32 %457, i32 %471 monotonic monotonic, align 4
  %473 = extractvalue { i32, i1 } %472, 1
  %474 = extractvalue { i32, i1 } %472, 0
  br i1 %473, label %.loopexit, label %.preheader18

.loopexit:                                        ; preds = %470, %452, %431, %409, %360, %238, %197, %244, %209, %205, %168, %162
  %475 = phi ptr addrspace(4) [ %164, %162 ], [ addrspacecast (ptr null to ptr addrspace(4)), %205 ], [ addrspacecast (ptr null to ptr addrspace(4)), %409 ], [ addrspacecast (ptr null to ptr addrspace(4)), %431 ], [ addrspacecast (ptr null to ptr addrspace(4)), %360 ], [ addrspacecast (ptr null to ptr addrspace(4)), %168 ], [ addrspacecast (ptr null to ptr addrspace(4)), %209 ], [ addrspacecast (ptr null to ptr addrspace(4)), %244 ], [ addrspacecast (ptr null to ptr addrspace(4)), %452 ], [ addrspacecast (ptr null to ptr addrspace(4)), %197 ], [ addrspacecast (ptr null to ptr addrspace(4)), %238 ], [ addrspacecast (ptr null to ptr addrspace(4)), %470 ]
  %476 = addrspacecast ptr addrspace(4) %475 to ptr
  ret ptr %476
}

declare double @llvm.rint.f64(double) #4

declare i64 @llvm.smax.i64(i64, i64) #4

declare i64 @llvm.umin.i64(i64, i64) #4

declare i64 @llvm.umax.i64(i64, i64) #4

declare i32 @llvm.smin.i32(i32, i32) #4

declare i32 @llvm.smax.i32(i32, i32) #4

declare i32 @llvm.umax.i32(i32, i32) #4

define linkonce_odr hidden range(i32 0, 5) i32 @aw_hip_texture_fetch(i32 noundef %0, i64 noundef %1, ptr noundef readonly captures(none) %2, ptr noundef writeonly captures(none) %3) local_unnamed_addr #7 {
  %5 = alloca %"struct.aw::TextureForm", align 4, addrspace(5)
  %6 = addrspacecast ptr addrspace(5) %5 to ptr
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %5) #11
  %7 = and i32 %0, 15
  store i32 %7, ptr addrspace(5) %5, align 4
  %8 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 4
  %9 = lshr i32 %0, 4
  %10 = and i32 %9, 15
  store i32 %10, ptr addrspace(5) %8, align 4
  %11 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 8
  %12 = lshr i32 %0, 8
  %13 = and i32 %12, 3
  store i32 %13, ptr addrspace(5) %11, align 4
  %14 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 12
  %15 = lshr i32 %0, 10
  %16 = and i32 %15, 15
  store i32 %16, ptr addrspace(5) %14, align 4
  %17 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 16
  %18 = lshr i32 %0, 14
  %19 = trunc i32 %18 to i8
  %20 = and i8 %19, 1
  store i8 %20, ptr addrspace(5) %17, align 4
  %21 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 17
  %22 = lshr i32 %0, 15
  %23 = trunc i32 %22 to i8
  %24 = and i8 %23, 1
  store i8 %24, ptr addrspace(5) %21, align 1
  %25 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 18
  %26 = lshr i32 %0, 17
  %27 = trunc i32 %26 to i8
  %28 = and i8 %27, 1
  store i8 %28, ptr addrspace(5) %25, align 2
  %29 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 20
  %30 = lshr i32 %0, 18
  %31 = and i32 %30, 7
  %32 = shl nuw nsw i32 1, %31
  store i32 %32, ptr addrspace(5) %29, align 4
  %33 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 24
  %34 = lshr i32 %0, 21
  %35 = and i32 %34, 7
  store i32 %35, ptr addrspace(5) %33, align 4
  %36 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 28
  %37 = lshr i32 %0, 24
  %38 = and i32 %37, 7
  store i32 %38, ptr addrspace(5) %36, align 4
  %39 = icmp ne i64 %1, 0
  %40 = and i64 %1, 7
  %41 = icmp eq i64 %40, 0
  %42 = and i1 %39, %41
  br i1 %42, label %43, label %60

43:                                               ; preds = %4
  %44 = and i64 %1, 8
  %45 = icmp eq i64 %44, 0
  %46 = inttoptr i64 %1 to ptr
  %47 = load i64, ptr %46, align 8
  %48 = icmp eq i64 %47, 3555668134352453632
  %49 = select i1 %45, i1 %48, i1 false
  %50 = select i1 %49, i64 %1, i64 %47
  %51 = icmp ne i64 %50, 0
  %52 = and i64 %50, 15
  %53 = icmp eq i64 %52, 0
  %54 = and i1 %51, %53
  br i1 %54, label %55, label %60

55:                                               ; preds = %43
  %56 = inttoptr i64 %50 to ptr
  %57 = load i64, ptr %56, align 8
  %58 = icmp eq i64 %57, 3555668134352453632
  %59 = select i1 %58, ptr %56, ptr null
  br label %60

60:                                               ; preds = %55, %43, %4
  %61 = phi ptr [ null, %4 ], [ %59, %55 ], [ null, %43 ]
  %62 = icmp eq ptr %61, null
  br i1 %62, label %84, label %63

63:                                               ; preds = %60
  %64 = icmp eq i32 %7, 7
  br i1 %64, label %75, label %65

65:                                               ; preds = %63
  %66 = getelementptr inbounds nuw i8, ptr %61, i64 16
  %67 = load i8, ptr %66, align 8
  %68 = add nsw i32 %7, -2
  %69 = icmp ult i32 %68, 5
  %70 = zext i1 %69 to i8
  %71 = icmp eq i8 %67, %70
  br i1 %71, label %75, label %72

72:                                               ; preds = %65
  %73 = trunc nuw i8 %67 to i1
  %74 = select i1 %73, i32 2, i32 3
  br label %84

75:                                               ; preds = %65, %63
  %76 = add nsw i32 %10, -5
  %77 = or i32 %76, %7
  %78 = icmp ult i32 %77, 2
  br i1 %78, label %79, label %83

79:                                               ; preds = %75
  %80 = getelementptr inbounds nuw i8, ptr %61, i64 19
  %81 = load i8, ptr %80, align 1
  %82 = trunc nuw i8 %81 to i1
  br i1 %82, label %83, label %84

83:                                               ; preds = %79, %75
  br label %84

84:                                               ; preds = %83, %79, %72, %60
  %85 = phi i32 [ 1, %60 ], [ %74, %72 ], [ 0, %83 ], [ 4, %79 ]
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %87, label %91

87:                                               ; preds = %84
  %88 = getelementptr inbounds nuw i8, ptr %61, i64 16
  %.not = icmp eq i32 %7, 0
  br i1 %.not, label %90, label %89

89:                                               ; preds = %87
  call fastcc void @_ZN2aw6gatherERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull align 8 dereferenceable(776) %88, ptr noundef nonnull align 4 dereferenceable(32) %6, ptr noundef %2, i64 noundef 1, ptr noundef %3) #13
  br label %91

90:                                               ; preds = %87
  call fastcc void @_ZN2aw6sampleERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull align 8 dereferenceable(776) %88, ptr noundef nonnull align 4 dereferenceable(32) %6, ptr noundef %2, i64 noundef 1, ptr noundef %3) #13
  br label %91

91:                                               ; preds = %89, %90, %84
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %5) #11
  ret i32 %85
}

define linkonce_odr hidden range(i32 0, 6) i32 @aw_hip_texture_sampled(i32 noundef %0, i64 noundef %1, i64 noundef %2, ptr noundef readonly captures(none) %3, ptr noundef writeonly captures(none) %4) local_unnamed_addr #7 {
  %6 = alloca %"struct.aw::TextureForm", align 4, addrspace(5)
  %7 = alloca %"struct.aw::TextureView", align 8, addrspace(5)
  %8 = addrspacecast ptr addrspace(5) %6 to ptr
  %9 = addrspacecast ptr addrspace(5) %7 to ptr
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %6) #11
  %10 = and i32 %0, 15
  store i32 %10, ptr addrspace(5) %6, align 4
  %11 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 4
  %12 = lshr i32 %0, 4
  %13 = and i32 %12, 15
  store i32 %13, ptr addrspace(5) %11, align 4
  %14 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 8
  %15 = lshr i32 %0, 8
  %16 = and i32 %15, 3
  store i32 %16, ptr addrspace(5) %14, align 4
  %17 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 12
  %18 = lshr i32 %0, 10
  %19 = and i32 %18, 15
  store i32 %19, ptr addrspace(5) %17, align 4
  %20 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 16
  %21 = lshr i32 %0, 14
  %22 = trunc i32 %21 to i8
  %23 = and i8 %22, 1
  store i8 %23, ptr addrspace(5) %20, align 4
  %24 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 17
  %25 = lshr i32 %0, 15
  %26 = trunc i32 %25 to i8
  %27 = and i8 %26, 1
  store i8 %27, ptr addrspace(5) %24, align 1
  %28 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 18
  %29 = lshr i32 %0, 17
  %30 = trunc i32 %29 to i8
  %31 = and i8 %30, 1
  store i8 %31, ptr addrspace(5) %28, align 2
  %32 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 20
  %33 = lshr i32 %0, 18
  %34 = and i32 %33, 7
  %35 = shl nuw nsw i32 1, %34
  store i32 %35, ptr addrspace(5) %32, align 4
  %36 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 24
  %37 = lshr i32 %0, 21
  %38 = and i32 %37, 7
  store i32 %38, ptr addrspace(5) %36, align 4
  %39 = getelementptr inbounds nuw i8, ptr addrspace(5) %6, i32 28
  %40 = lshr i32 %0, 24
  %41 = and i32 %40, 7
  store i32 %41, ptr addrspace(5) %39, align 4
  %42 = icmp ne i64 %1, 0
  %43 = and i64 %1, 7
  %44 = icmp eq i64 %43, 0
  %45 = and i1 %42, %44
  br i1 %45, label %46, label %63

46:                                               ; preds = %5
  %47 = and i64 %1, 8
  %48 = icmp eq i64 %47, 0
  %49 = inttoptr i64 %1 to ptr
  %50 = load i64, ptr %49, align 8
  %51 = icmp eq i64 %50, 3555668134352453632
  %52 = select i1 %48, i1 %51, i1 false
  %53 = select i1 %52, i64 %1, i64 %50
  %54 = icmp ne i64 %53, 0
  %55 = and i64 %53, 15
  %56 = icmp eq i64 %55, 0
  %57 = and i1 %54, %56
  br i1 %57, label %58, label %63

58:                                               ; preds = %46
  %59 = inttoptr i64 %53 to ptr
  %60 = load i64, ptr %59, align 8
  %61 = icmp eq i64 %60, 3555668134352453632
  %62 = select i1 %61, ptr %59, ptr null
  br label %63

63:                                               ; preds = %58, %46, %5
  %64 = phi ptr [ null, %5 ], [ %62, %58 ], [ null, %46 ]
  %65 = icmp eq ptr %64, null
  br i1 %65, label %87, label %66

66:                                               ; preds = %63
  %67 = icmp eq i32 %10, 7
  br i1 %67, label %78, label %68

68:                                               ; preds = %66
  %69 = getelementptr inbounds nuw i8, ptr %64, i64 16
  %70 = load i8, ptr %69, align 8
  %71 = add nsw i32 %10, -2
  %72 = icmp ult i32 %71, 5
  %73 = zext i1 %72 to i8
  %74 = icmp eq i8 %70, %73
  br i1 %74, label %78, label %75

75:                                               ; preds = %68
  %76 = trunc nuw i8 %70 to i1
  %77 = select i1 %76, i32 2, i32 3
  br label %87

78:                                               ; preds = %68, %66
  %79 = add nsw i32 %13, -5
  %80 = or i32 %79, %10
  %81 = icmp ult i32 %80, 2
  br i1 %81, label %82, label %86

82:                                               ; preds = %78
  %83 = getelementptr inbounds nuw i8, ptr %64, i64 19
  %84 = load i8, ptr %83, align 1
  %85 = trunc nuw i8 %84 to i1
  br i1 %85, label %86, label %87

86:                                               ; preds = %82, %78
  br label %87

87:                                               ; preds = %86, %82, %75, %63
  %88 = phi i32 [ 1, %63 ], [ %77, %75 ], [ 0, %86 ], [ 4, %82 ]
  %89 = icmp eq i32 %88, 0
  br i1 %89, label %90, label %132

90:                                               ; preds = %87
  %91 = icmp ne i64 %2, 0
  %92 = and i64 %2, 7
  %93 = icmp eq i64 %92, 0
  %94 = and i1 %91, %93
  br i1 %94, label %95, label %132

95:                                               ; preds = %90
  %96 = inttoptr i64 %2 to ptr
  %97 = load i64, ptr %96, align 8
  %98 = icmp slt i64 %97, 0
  br i1 %98, label %99, label %132

99:                                               ; preds = %95
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %7) #11
  %100 = getelementptr inbounds nuw i8, ptr %64, i64 16
  call void @llvm.memcpy.p5.p0.i64(ptr addrspace(5) noundef align 8 dereferenceable(776) %7, ptr noundef nonnull align 8 dereferenceable(776) %100, i64 776, i1 false)
  %101 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 5
  %102 = trunc i64 %97 to i8
  %103 = and i8 %102, 1
  %104 = xor i8 %103, 1
  store i8 %104, ptr addrspace(5) %101, align 1
  %105 = and i64 %97, 2
  %106 = icmp eq i64 %105, 0
  br i1 %106, label %109, label %107

107:                                              ; preds = %99
  %108 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 7
  store i8 0, ptr addrspace(5) %108, align 1
  br label %109

109:                                              ; preds = %107, %99
  %110 = getelementptr inbounds nuw i8, ptr addrspace(5) %7, i32 14
  br label %111

111:                                              ; preds = %123, %109
  %112 = phi i32 [ 0, %109 ], [ %126, %123 ]
  %113 = shl nuw nsw i32 %112, 2
  %114 = add nuw nsw i32 %113, 4
  %115 = zext nneg i32 %114 to i64
  %116 = lshr i64 %97, %115
  %117 = trunc i64 %116 to i32
  %118 = and i32 %117, 15
  switch i32 %118, label %119 [
    i32 0, label %123
    i32 1, label %122
  ]

119:                                              ; preds = %111
  %120 = icmp samesign ult i32 %118, 4
  %121 = select i1 %120, i8 1, i8 3
  br label %123

122:                                              ; preds = %111
  br label %123

123:                                              ; preds = %122, %119, %111
  %124 = phi i8 [ 0, %111 ], [ %121, %119 ], [ 2, %122 ]
  %125 = getelementptr inbounds nuw i8, ptr addrspace(5) %110, i32 %112
  store i8 %124, ptr addrspace(5) %125, align 1
  %126 = add nuw nsw i32 %112, 1
  %127 = icmp eq i32 %126, 3
  br i1 %127, label %128, label %111

128:                                              ; preds = %123
  %.not = icmp eq i32 %10, 0
  br i1 %.not, label %130, label %129

129:                                              ; preds = %128
  call fastcc void @_ZN2aw6gatherERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull align 8 dereferenceable(776) %9, ptr noundef nonnull align 4 dereferenceable(32) %8, ptr noundef %3, i64 noundef 1, ptr noundef %4) #13
  br label %131

130:                                              ; preds = %128
  call fastcc void @_ZN2aw6sampleERKNS_11TextureViewERKNS_11TextureFormEPKjmPj(ptr noundef nonnull align 8 dereferenceable(776) %9, ptr noundef nonnull align 4 dereferenceable(32) %8, ptr noundef %3, i64 noundef 1, ptr noundef %4) #13
  br label %131

131:                                              ; preds = %130, %129
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %7) #11
  br label %132

132:                                              ; preds = %131, %95, %90, %87
  %133 = phi i32 [ 0, %131 ], [ %88, %87 ], [ 5, %95 ], [ 5, %90 ]
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %6) #11
  ret i32 %133
}

declare void @llvm.memcpy.p5.p0.i64(ptr addrspace(5) noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #8

define linkonce_odr hidden range(i32 0, 7) i32 @aw_hip_texture_access(i32 noundef %0, i64 noundef %1, ptr noundef readonly captures(none) %2, ptr noundef writeonly captures(none) %3) local_unnamed_addr #9 {
  %5 = alloca %"struct.aw::TextureForm", align 4, addrspace(5)
  %6 = addrspacecast ptr addrspace(5) %5 to ptr
  call void @llvm.lifetime.start.p5(ptr addrspace(5) %5) #11
  %7 = and i32 %0, 15
  store i32 %7, ptr addrspace(5) %5, align 4
  %8 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 4
  %9 = lshr i32 %0, 4
  %10 = and i32 %9, 15
  store i32 %10, ptr addrspace(5) %8, align 4
  %11 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 8
  %12 = lshr i32 %0, 8
  %13 = and i32 %12, 3
  store i32 %13, ptr addrspace(5) %11, align 4
  %14 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 12
  %15 = lshr i32 %0, 10
  %16 = and i32 %15, 15
  store i32 %16, ptr addrspace(5) %14, align 4
  %17 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 16
  %18 = lshr i32 %0, 14
  %19 = trunc i32 %18 to i8
  %20 = and i8 %19, 1
  store i8 %20, ptr addrspace(5) %17, align 4
  %21 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 17
  %22 = lshr i32 %0, 15
  %23 = trunc i32 %22 to i8
  %24 = and i8 %23, 1
  store i8 %24, ptr addrspace(5) %21, align 1
  %25 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 18
  %26 = lshr i32 %0, 17
  %27 = trunc i32 %26 to i8
  %28 = and i8 %27, 1
  store i8 %28, ptr addrspace(5) %25, align 2
  %29 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 20
  %30 = lshr i32 %0, 18
  %31 = and i32 %30, 7
  %32 = shl nuw nsw i32 1, %31
  store i32 %32, ptr addrspace(5) %29, align 4
  %33 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 24
  %34 = lshr i32 %0, 21
  %35 = and i32 %34, 7
  store i32 %35, ptr addrspace(5) %33, align 4
  %36 = getelementptr inbounds nuw i8, ptr addrspace(5) %5, i32 28
  %37 = lshr i32 %0, 24
  %38 = and i32 %37, 7
  store i32 %38, ptr addrspace(5) %36, align 4
  %39 = icmp ne i64 %1, 0
  %40 = and i64 %1, 7
  %41 = icmp eq i64 %40, 0
  %42 = and i1 %39, %41
  br i1 %42, label %43, label %60

43:                                               ; preds = %4
  %44 = and i64 %1, 8
  %45 = icmp eq i64 %44, 0
  %46 = inttoptr i64 %1 to ptr
  %47 = load i64, ptr %46, align 8
  %48 = icmp eq i64 %47, 3555668134352453632
  %49 = select i1 %45, i1 %48, i1 false
  %50 = select i1 %49, i64 %1, i64 %47
  %51 = icmp ne i64 %50, 0
  %52 = and i64 %50, 15
  %53 = icmp eq i64 %52, 0
  %54 = and i1 %51, %53
  br i1 %54, label %55, label %60

55:                                               ; preds = %43
  %56 = inttoptr i64 %50 to ptr
  %57 = load i64, ptr %56, align 8
  %58 = icmp eq i64 %57, 3555668134352453632
  %59 = select i1 %58, ptr %56, ptr null
  br label %60

60:                                               ; preds = %55, %43, %4
  %61 = phi ptr [ null, %4 ], [ %59, %55 ], [ null, %43 ]
  %62 = icmp eq ptr %61, null
  br i1 %62, label %84, label %63

63:                                               ; preds = %60
  %64 = icmp eq i32 %7, 7
  br i1 %64, label %75, label %65

65:                                               ; preds = %63
  %66 = getelementptr inbounds nuw i8, ptr %61, i64 16
  %67 = load i8, ptr %66, align 8
  %68 = add nsw i32 %7, -2
  %69 = icmp ult i32 %68, 5
  %70 = zext i1 %69 to i8
  %71 = icmp eq i8 %67, %70
  br i1 %71, label %75, label %72

72:                                               ; preds = %65
  %73 = trunc nuw i8 %67 to i1
  %74 = select i1 %73, i32 2, i32 3
  br label %84

75:                                               ; preds = %65, %63
  %76 = add nsw i32 %10, -5
  %77 = or i32 %76, %7
  %78 = icmp ult i32 %77, 2
  br i1 %78, label %79, label %83

79:                                               ; preds = %75
  %80 = getelementptr inbounds nuw i8, ptr %61, i64 19
  %81 = load i8, ptr %80, align 1
  %82 = trunc nuw i8 %81 to i1
  br i1 %82, label %83, label %84

83:                                               ; preds = %79, %75
  br label %84

84:                                               ; preds = %83, %79, %72, %60
  %85 = phi i32 [ 1, %60 ], [ %74, %72 ], [ 0, %83 ], [ 4, %79 ]
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %87, label %92

87:                                               ; preds = %84
  %88 = getelementptr inbounds nuw i8, ptr %61, i64 16
  %89 = call fastcc noundef ptr @_ZN2aw14access_surfaceERKNS_11TextureViewERKNS_11TextureFormEPKjmPjm(ptr noundef nonnull align 8 dereferenceable(776) %88, ptr noundef nonnull align 4 dereferenceable(32) %6, ptr noundef %2, ptr noundef %3) #13
  %90 = icmp eq ptr %89, null
  %91 = select i1 %90, i32 0, i32 6
  br label %92

92:                                               ; preds = %87, %84
  %93 = phi i32 [ %91, %87 ], [ %85, %84 ]
  call void @llvm.lifetime.end.p5(ptr addrspace(5) %5) #11
  ret i32 %93
}

define linkonce_odr hidden range(i32 0, 5) i32 @aw_hip_texture_query(i32 noundef %0, i64 noundef %1, ptr noundef readonly captures(none) %2, ptr noundef writeonly captures(none) %3) local_unnamed_addr #10 {
  %5 = and i32 %0, 15
  %6 = lshr i32 %0, 4
  %7 = and i32 %6, 15
  %8 = lshr i32 %0, 10
  %9 = and i32 %8, 15
  %10 = icmp eq i32 %5, 8
  %11 = icmp ne i64 %1, 0
  %12 = and i64 %1, 7
  %13 = icmp eq i64 %12, 0
  %14 = and i1 %11, %13
  br i1 %10, label %15, label %50

15:                                               ; preds = %4
  br i1 %14, label %16, label %33

16:                                               ; preds = %15
  %17 = and i64 %1, 8
  %18 = icmp eq i64 %17, 0
  %19 = inttoptr i64 %1 to ptr
  %20 = load i64, ptr %19, align 8
  %21 = icmp eq i64 %20, 3555668134352453632
  %22 = select i1 %18, i1 %21, i1 false
  %23 = select i1 %22, i64 %1, i64 %20
  %24 = icmp ne i64 %23, 0
  %25 = and i64 %23, 15
  %26 = icmp eq i64 %25, 0
  %27 = and i1 %24, %26
  br i1 %27, label %28, label %33

28:                                               ; preds = %16
  %29 = inttoptr i64 %23 to ptr
  %30 = load i64, ptr %29, align 8
  %31 = icmp eq i64 %30, 3555668134352453632
  %32 = select i1 %31, ptr %29, ptr null
  br label %33

33:                                               ; preds = %28, %16, %15
  %34 = phi ptr [ null, %15 ], [ %32, %28 ], [ null, %16 ]
  br i1 %14, label %35, label %39

35:                                               ; preds = %33
  %36 = inttoptr i64 %1 to ptr
  %37 = load i64, ptr %36, align 8
  %38 = icmp slt i64 %37, 0
  br i1 %38, label %46, label %39

39:                                               ; preds = %35, %33
  %40 = icmp eq ptr %34, null
  br i1 %40, label %46, label %41

41:                                               ; preds = %39
  %42 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %43 = load i8, ptr %42, align 8
  %44 = trunc nuw i8 %43 to i1
  %45 = select i1 %44, i32 3, i32 1
  br label %46

46:                                               ; preds = %41, %39, %35
  %47 = phi i32 [ 2, %35 ], [ %45, %41 ], [ 0, %39 ]
  %48 = icmp eq i32 %47, %9
  %49 = zext i1 %48 to i32
  br label %215

50:                                               ; preds = %4
  br i1 %14, label %51, label %88

51:                                               ; preds = %50
  %52 = inttoptr i64 %1 to ptr
  %53 = load i64, ptr %52, align 8
  %54 = icmp slt i64 %53, 0
  br i1 %54, label %55, label %73

55:                                               ; preds = %51
  switch i32 %9, label %63 [
    i32 10, label %56
    i32 9, label %59
  ]

56:                                               ; preds = %55
  %57 = trunc i64 %53 to i32
  %58 = and i32 %57, 1
  br label %215

59:                                               ; preds = %55
  %60 = trunc i64 %53 to i32
  %61 = lshr i32 %60, 1
  %62 = and i32 %61, 1
  br label %215

63:                                               ; preds = %55
  %64 = add nsw i32 %9, -11
  %65 = icmp ult i32 %64, 3
  %66 = shl nuw nsw i32 %9, 2
  %67 = add nsw i32 %66, -40
  %68 = zext nneg i32 %67 to i64
  %69 = lshr i64 %53, %68
  %70 = trunc i64 %69 to i32
  %71 = and i32 %70, 15
  %72 = select i1 %65, i32 %71, i32 0
  br label %215

73:                                               ; preds = %51
  %74 = and i64 %1, 8
  %75 = icmp eq i64 %74, 0
  %76 = icmp eq i64 %53, 3555668134352453632
  %77 = and i1 %75, %76
  %78 = select i1 %77, i64 %1, i64 %53
  %79 = icmp ne i64 %78, 0
  %80 = and i64 %78, 15
  %81 = icmp eq i64 %80, 0
  %82 = and i1 %79, %81
  br i1 %82, label %83, label %88

83:                                               ; preds = %73
  %84 = inttoptr i64 %78 to ptr
  %85 = load i64, ptr %84, align 8
  %86 = icmp eq i64 %85, 3555668134352453632
  %87 = select i1 %86, ptr %84, ptr null
  br label %88

88:                                               ; preds = %83, %73, %50
  %89 = phi ptr [ null, %50 ], [ %87, %83 ], [ null, %73 ]
  %90 = icmp eq ptr %89, null
  br i1 %90, label %112, label %91

91:                                               ; preds = %88
  %92 = icmp eq i32 %5, 7
  br i1 %92, label %103, label %93

93:                                               ; preds = %91
  %94 = getelementptr inbounds nuw i8, ptr %89, i64 16
  %95 = load i8, ptr %94, align 8
  %96 = add nsw i32 %5, -2
  %97 = icmp ult i32 %96, 5
  %98 = zext i1 %97 to i8
  %99 = icmp eq i8 %95, %98
  br i1 %99, label %103, label %100

100:                                              ; preds = %93
  %101 = trunc nuw i8 %95 to i1
  %102 = select i1 %101, i32 2, i32 3
  br label %112

103:                                              ; preds = %93, %91
  %104 = add nsw i32 %7, -5
  %105 = or i32 %104, %5
  %106 = icmp ult i32 %105, 2
  br i1 %106, label %107, label %111

107:                                              ; preds = %103
  %108 = getelementptr inbounds nuw i8, ptr %89, i64 19
  %109 = load i8, ptr %108, align 1
  %110 = trunc nuw i8 %109 to i1
  br i1 %110, label %111, label %112

111:                                              ; preds = %107, %103
  br label %112

112:                                              ; preds = %111, %107, %100, %88
  %113 = phi i32 [ 1, %88 ], [ %102, %100 ], [ 0, %111 ], [ 4, %107 ]
  %114 = icmp eq i32 %113, 0
  br i1 %114, label %115, label %217

115:                                              ; preds = %112
  %116 = and i32 %0, 768
  %117 = icmp eq i32 %116, 0
  br i1 %117, label %120, label %118

118:                                              ; preds = %115
  %119 = load i32, ptr %2, align 4
  br label %120

120:                                              ; preds = %118, %115
  %121 = phi i32 [ %119, %118 ], [ 0, %115 ]
  %122 = getelementptr inbounds nuw i8, ptr %89, i64 36
  %123 = getelementptr inbounds nuw i8, ptr %89, i64 72
  %124 = icmp slt i32 %121, 0
  %125 = load i32, ptr %122, align 4
  %126 = add nsw i32 %125, -1
  %127 = tail call i32 @llvm.smin.i32(i32 %121, i32 %126)
  %128 = select i1 %124, i32 0, i32 %127
  %129 = sext i32 %128 to i64
  %130 = getelementptr inbounds %"struct.aw::TextureLevel", ptr %123, i64 %129
  switch i32 %9, label %204 [
    i32 0, label %131
    i32 1, label %134
    i32 2, label %141
    i32 3, label %148
    i32 4, label %171
    i32 5, label %178
    i32 6, label %182
    i32 7, label %194
    i32 10, label %199
  ]

131:                                              ; preds = %120
  %132 = getelementptr inbounds nuw i8, ptr %130, i64 24
  %133 = load i32, ptr %132, align 8
  br label %215

134:                                              ; preds = %120
  %135 = getelementptr inbounds nuw i8, ptr %89, i64 29
  %136 = load i8, ptr %135, align 1
  %137 = icmp ugt i8 %136, 1
  br i1 %137, label %138, label %215

138:                                              ; preds = %134
  %139 = getelementptr inbounds nuw i8, ptr %130, i64 28
  %140 = load i32, ptr %139, align 4
  br label %215

141:                                              ; preds = %120
  %142 = getelementptr inbounds nuw i8, ptr %89, i64 29
  %143 = load i8, ptr %142, align 1
  %144 = icmp ugt i8 %143, 2
  br i1 %144, label %145, label %215

145:                                              ; preds = %141
  %146 = getelementptr inbounds nuw i8, ptr %130, i64 32
  %147 = load i32, ptr %146, align 8
  br label %215

148:                                              ; preds = %120
  %149 = getelementptr inbounds nuw i8, ptr %89, i64 27
  %150 = load i8, ptr %149, align 1
  %151 = zext i8 %150 to i32
  %152 = and i32 %151, 1
  %153 = icmp eq i32 %152, 0
  %154 = icmp ugt i8 %150, 5
  br i1 %154, label %155, label %158

155:                                              ; preds = %148
  %156 = icmp eq i8 %150, 6
  %157 = select i1 %156, i32 4317, i32 4318
  br label %215

158:                                              ; preds = %148
  %159 = getelementptr inbounds nuw i8, ptr %89, i64 24
  %160 = load i8, ptr %159, align 8
  %161 = trunc nuw i8 %160 to i1
  %162 = icmp samesign ult i8 %150, 4
  %163 = and i1 %162, %161
  %164 = lshr i32 %151, 1
  br i1 %163, label %165, label %168

165:                                              ; preds = %158
  %166 = select i1 %153, i32 4306, i32 4304
  %167 = or disjoint i32 %166, %164
  br label %215

168:                                              ; preds = %158
  %169 = select i1 %153, i32 4314, i32 4311
  %170 = add nuw nsw i32 %169, %164
  br label %215

171:                                              ; preds = %120
  %172 = getelementptr inbounds nuw i8, ptr %89, i64 28
  %173 = load i8, ptr %172, align 4
  %174 = icmp eq i8 %173, 1
  %175 = icmp eq i8 %173, 2
  %176 = select i1 %175, i32 4274, i32 4277
  %177 = select i1 %174, i32 4272, i32 %176
  br label %215

178:                                              ; preds = %120
  %179 = getelementptr inbounds nuw i8, ptr %89, i64 23
  %180 = load i8, ptr %179, align 1
  %181 = zext nneg i8 %180 to i32
  br label %215

182:                                              ; preds = %120
  %183 = getelementptr inbounds nuw i8, ptr %89, i64 18
  %184 = load i8, ptr %183, align 2
  %185 = trunc nuw i8 %184 to i1
  br i1 %185, label %186, label %215

186:                                              ; preds = %182
  %187 = getelementptr inbounds nuw i8, ptr %89, i64 40
  %188 = load i32, ptr %187, align 8
  %189 = getelementptr inbounds nuw i8, ptr %89, i64 19
  %190 = load i8, ptr %189, align 1
  %191 = trunc nuw i8 %190 to i1
  %192 = select i1 %191, i32 6, i32 1
  %193 = udiv i32 %188, %192
  br label %215

194:                                              ; preds = %120
  %195 = getelementptr inbounds nuw i8, ptr %89, i64 20
  %196 = load i8, ptr %195, align 4
  %197 = trunc nuw i8 %196 to i1
  %198 = select i1 %197, i32 %125, i32 0
  br label %215

199:                                              ; preds = %120
  %200 = getelementptr inbounds nuw i8, ptr %89, i64 21
  %201 = load i8, ptr %200, align 1
  %202 = xor i8 %201, 1
  %203 = zext nneg i8 %202 to i32
  br label %215

204:                                              ; preds = %120
  %205 = add nsw i32 %9, -11
  %206 = icmp ult i32 %205, 3
  br i1 %206, label %207, label %215

207:                                              ; preds = %204
  %208 = zext nneg i32 %9 to i64
  %209 = getelementptr i8, ptr %89, i64 %208
  %210 = getelementptr i8, ptr %209, i64 19
  %211 = load i8, ptr %210, align 1
  switch i8 %211, label %213 [
    i8 0, label %215
    i8 1, label %214
    i8 2, label %212
  ]

212:                                              ; preds = %207
  br label %215

213:                                              ; preds = %207
  br label %215

214:                                              ; preds = %207
  br label %215

215:                                              ; preds = %214, %213, %212, %207, %204, %199, %194, %186, %182, %178, %171, %168, %165, %155, %145, %141, %138, %134, %131, %63, %59, %56, %46
  %216 = phi i32 [ %72, %63 ], [ %49, %46 ], [ %58, %56 ], [ %62, %59 ], [ %133, %131 ], [ 0, %182 ], [ 0, %134 ], [ 0, %204 ], [ %177, %171 ], [ %181, %178 ], [ 0, %141 ], [ %198, %194 ], [ %203, %199 ], [ %170, %168 ], [ %140, %138 ], [ %147, %145 ], [ %193, %186 ], [ %157, %155 ], [ %167, %165 ], [ 0, %207 ], [ 4, %213 ], [ 3, %214 ], [ 1, %212 ]
  store i32 %216, ptr %3, align 4
  br label %217

217:                                              ; preds = %215, %112
  %218 = phi i32 [ %113, %112 ], [ 0, %215 ]
  ret i32 %218
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nofree norecurse nosync nounwind memory(read, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #3 = { mustprogress nofree norecurse nosync nounwind memory(argmem: readwrite) "no-builtins" "no-trapping-math"="true" }
attributes #4 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #6 = { mustprogress nofree norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #7 = { mustprogress nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #8 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #9 = { mustprogress nofree norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #10 = { mustprogress nofree norecurse nosync nounwind willreturn memory(read, argmem: readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #11 = { nounwind }
attributes #12 = { nobuiltin "no-builtins" }
attributes #13 = { nobuiltin nounwind "no-builtins" }
